// Chat templates: the Jinja2 programs that come with models and turn a conversation into a prompt.
//
// The result is what transformers' apply_chat_template(tokenize=False) gives: Jinja2's immutable
// sandbox with trim_blocks, lstrip_blocks and loop controls, `tojson` that writes plain JSON,
// raise_exception and strftime_now. What differs: integers have 64 bits, and `include`, `import`
// and `extends` are refused.
//
// Templates come from model files and are not trusted: parsing and rendering are bounded in time,
// depth and memory (budget.h), and nothing outside the input can be reached.
#pragma once

#include <ctime>
#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/base/result.h"
#include "core/text/template/budget.h"

namespace halogen {

// What a template can see. Everything behind a pointer is borrowed until render returns; null
// pointers are None to the template.
struct TemplateInput {
  const nlohmann::ordered_json* messages = nullptr;   // a list of {"role": ..., "content": ...}
  const nlohmann::ordered_json* tools = nullptr;      // a list of tool definitions, in their order
  const nlohmann::ordered_json* documents = nullptr;  // a list of documents to answer from
  const nlohmann::ordered_json* variables = nullptr;  // an object: enable_thinking, ...
  // Stop at the end of the last message, so that the model goes on with it; excludes the next.
  bool continue_final_message = false;
  bool add_generation_prompt = true;     // end with the start of the assistant's answer
  std::optional<std::string> bos_token;  // undefined to the template where the model has none
  std::optional<std::string> eos_token;
  std::optional<std::tm> local_time;  // for strftime_now; absent: the machine's clock
};

class ChatTemplate {
 public:
  // [any] Compiles `source`. Fails with HALOGEN_E_INVALID and the line of what is wrong.
  static Result<ChatTemplate> parse(std::string source);

  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;
  ~ChatTemplate();

  // [any] The prompt. Fails with HALOGEN_E_INVALID when the template raises an exception, does
  // something impossible or exceeds `limits`; the message names the template's line.
  Result<std::string> render(const TemplateInput& input, const jinja::Limits& limits = {}) const;

  // The text it was parsed from.
  const std::string& source() const;

 private:
  struct Program;
  explicit ChatTemplate(std::unique_ptr<const Program> program);

  std::unique_ptr<const Program> program_;
};

}  // namespace halogen
