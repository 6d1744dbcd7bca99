// A conversation, rendered with the model's chat template and read as tokens.
#pragma once

#include <cstdint>
#include <vector>

#include "core/api/json.h"
#include "core/base/result.h"
#include "core/text/template/chat_template.h"
#include "core/text/tokenizer.h"

namespace halogen::api {

// [any] `variables` may be null. Errors are the template's, which names its line, and the
// tokenizer's.
Result<std::vector<int32_t>> render_conversation(const text::Tokenizer& tokenizer,
                                                 const ChatTemplate& chat_template,
                                                 const Json& messages, const Json* variables,
                                                 bool add_generation_prompt);

}  // namespace halogen::api
