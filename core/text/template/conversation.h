// A conversation, rendered with the model's chat template and read as tokens.
#pragma once

#include <cstdint>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/base/result.h"
#include "core/text/template/chat_template.h"
#include "core/text/tokenizer.h"

namespace halogen {

// [any] `variables` may be null. Errors are the template's, which names its line, and the
// tokenizer's.
Result<std::vector<int32_t>> render_conversation(const text::Tokenizer& tokenizer,
                                                 const ChatTemplate& chat_template,
                                                 const nlohmann::ordered_json& messages,
                                                 const nlohmann::ordered_json* variables,
                                                 bool add_generation_prompt);

}  // namespace halogen
