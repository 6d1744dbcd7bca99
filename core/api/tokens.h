// POST /tokenize and /detokenize: what the model's vocabulary makes of a text, and back.
#pragma once

#include "core/api/json.h"
#include "core/api/model_access.h"
#include "core/http/exchange.h"

namespace halogen::api {

// [loop] Takes "content" or "prompt" (a text), or "messages" (a conversation, rendered with the
// chat template); answers {"tokens", "count", "max_model_len"}.
void tokenize(http::Exchange& exchange, const ModelAccess& model, const Json& body);

// [loop] Takes "tokens"; answers {"content", "prompt"}, both the text.
void detokenize(http::Exchange& exchange, const ModelAccess& model, const Json& body);

}  // namespace halogen::api
