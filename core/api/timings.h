// What a request took, as a reply states it: the names that llama.cpp's server uses, and what the
// device read and did for it.
#pragma once

#include <cstddef>
#include <span>

#include "core/api/json.h"
#include "core/engine/request.h"

namespace halogen::api {

// [any] `choices` are the last events of a request's choices, `per_prompt` of which share a prompt.
// Tokens, bytes and operations are those of all together; times are those of the choice that took
// the longest. `bandwidth` is the memory's, in bytes per second; 0: not known.
Json timings_json(std::span<const GenerationEvent> choices, size_t per_prompt, double bandwidth);

}  // namespace halogen::api
