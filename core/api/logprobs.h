// Log-probabilities in the two forms that OpenAI's endpoints have.
#pragma once

#include "core/api/json.h"
#include "core/engine/request.h"
#include "core/text/tokenizer.h"

namespace halogen::api {

// Adds the event's tokens to a chat's {"content": [{"token", "logprob", "bytes", "top_logprobs"}]}.
void add_chat_logprobs(const GenerationEvent& event, int32_t top, const text::Tokenizer& tokenizer,
                       Json& target);

// Adds the event's tokens to {"tokens", "token_logprobs", "top_logprobs", "text_offset"}; `offset`
// is where the next token begins in the text, in characters, and moves on.
void add_text_logprobs(const GenerationEvent& event, int32_t top, const text::Tokenizer& tokenizer,
                       size_t& offset, Json& target);

}  // namespace halogen::api
