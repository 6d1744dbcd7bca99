// POST /tokenize and /detokenize: what the model's vocabulary makes of a text, and back.
#pragma once

#include "core/api/endpoint.h"

namespace halogen::api {

// [any] An Endpoint. Takes "content" or "prompt" (a text), or "messages" (a conversation, rendered
// with the chat template); answers {"tokens", "count", "max_model_len"}.
Reply tokenize(const Json& body, const ModelAccess& model);

// [any] An Endpoint. Takes "tokens"; answers {"content", "prompt"}, both the text.
Reply detokenize(const Json& body, const ModelAccess& model);

}  // namespace halogen::api
