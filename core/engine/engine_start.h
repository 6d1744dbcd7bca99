// Starting an engine over any source of text; Engine::start is this over the model's tokenizer.
#pragma once

#include <memory>

#include "core/engine/engine.h"
#include "core/engine/text_sink.h"

namespace halogen {

// [loop] See Engine::start; parts.tokenizer is not used.
Result<std::unique_ptr<Engine>> start_engine(Loop& loop, EngineParts parts, EngineLimits limits,
                                             std::unique_ptr<TextSource> text);

}  // namespace halogen
