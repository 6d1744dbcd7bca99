#include "core/text/template/conversation.h"

#include <optional>
#include <string>

namespace halogen {

Result<std::vector<int32_t>> render_conversation(const text::Tokenizer& tokenizer,
                                                 const ChatTemplate& chat_template,
                                                 const nlohmann::ordered_json& messages,
                                                 const nlohmann::ordered_json* variables,
                                                 bool add_generation_prompt) {
  const text::Vocabulary& vocabulary = tokenizer.vocabulary();
  const auto piece = [&](text::TokenId id) -> std::optional<std::string> {
    return id == text::kNoToken ? std::nullopt : std::optional(std::string(tokenizer.piece(id)));
  };
  TemplateInput input;
  input.messages = &messages;
  input.variables = variables;
  input.add_generation_prompt = add_generation_prompt;
  input.bos_token = piece(vocabulary.bos);
  input.eos_token = piece(vocabulary.eos);
  auto rendered = chat_template.render(input);
  if (!rendered) return rendered.error();
  std::vector<int32_t> ids;
  // The template writes the special tokens itself.
  const Status encoded =
      tokenizer.encode(*rendered, {.add_special = false, .parse_special = true}, ids);
  if (!encoded) return encoded.error();
  return ids;
}

}  // namespace halogen
