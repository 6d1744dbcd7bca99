// Which requests can be served at all, and what is reserved for one that can.
#pragma once

#include <memory>

#include "core/base/result.h"
#include "core/engine/engine.h"
#include "core/engine/sequence.h"
#include "core/engine/text_sink.h"

namespace halogen {

// [loop] HALOGEN_E_INVALID names a limit that is zero or contradicts another.
Status check_limits(const EngineLimits& limits);

// [loop] The sequence of a request, with its sampling state, its text and all the memory it will
// need. `id` is its own. HALOGEN_E_INVALID says why the request can never be served.
Result<std::unique_ptr<Sequence>> make_sequence(GenerationRequest request, uint64_t id,
                                                const EngineParts& parts,
                                                const EngineLimits& limits, const TextSource& text);

}  // namespace halogen
