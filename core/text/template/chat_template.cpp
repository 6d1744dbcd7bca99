// The door of the room: JSON becomes template values, and Failures become Errors.
#include "core/text/template/chat_template.h"

#include <new>

#include <nlohmann/json.hpp>

#include "core/text/template/interpreter.h"
#include "core/text/template/json.h"
#include "core/text/template/parser.h"
#include "core/text/template/unicode.h"

namespace halogen {

namespace {

using jinja::Interpreter;
using jinja::Scope;
using jinja::Value;

constexpr std::size_t kMaxSourceBytes = 1 << 20;  // the largest known template has 17 thousand

Value borrowed(Interpreter& interpreter, const nlohmann::ordered_json* json) {
  return json != nullptr ? jinja::from_json(interpreter.heap(), *json) : Value::none();
}

void define_token(Interpreter& interpreter, Scope& scope, std::string_view name,
                  const std::optional<std::string>& token) {
  if (token) scope.set(name, interpreter.heap().string(*token));
}

Scope& make_globals(Interpreter& interpreter, const TemplateInput& input) {
  Scope& scope = interpreter.make_scope(nullptr);
  scope.set("messages", borrowed(interpreter, input.messages));
  scope.set("tools", borrowed(interpreter, input.tools));
  scope.set("documents", borrowed(interpreter, input.documents));
  scope.set("add_generation_prompt", Value::boolean(input.add_generation_prompt));
  define_token(interpreter, scope, "bos_token", input.bos_token);
  define_token(interpreter, scope, "eos_token", input.eos_token);
  if (input.variables != nullptr && input.variables->is_object()) {
    for (const auto& [name, value] : input.variables->items()) {
      scope.set(name, jinja::from_json(interpreter.heap(), value));
    }
  }
  return scope;
}

// The text of the last message, or the last text of its parts.
const std::string* final_text(const nlohmann::ordered_json* messages) {
  if (messages == nullptr || !messages->is_array() || messages->empty()) return nullptr;
  const auto& last = messages->back();
  if (!last.is_object() || !last.contains("content")) return nullptr;
  const auto& content = last.at("content");
  if (content.is_string()) return content.get_ptr<const std::string*>();
  if (!content.is_array()) return nullptr;
  for (auto part = content.rbegin(); part != content.rend(); ++part) {
    if (part->is_object() && part->contains("text"))
      return part->at("text").get_ptr<const std::string*>();
  }
  return nullptr;
}

// Cuts the prompt after the last message's text, with the blanks at its end if the template kept
// them.
Result<std::string> cut_after_final_message(std::string prompt, const TemplateInput& input) {
  const std::string* text = final_text(input.messages);
  if (text == nullptr) {
    return fail(HALOGEN_E_INVALID, "cannot continue the final message, because it has no text");
  }
  const std::string_view unindented = jinja::strip_left(*text);
  const std::string_view stripped = jinja::strip_right(unindented);
  const std::size_t at = prompt.rfind(stripped);
  if (at == std::string::npos) {
    return fail(HALOGEN_E_INVALID,
                "cannot continue the final message, because the chat template does not render its "
                "text as it is");
  }
  const bool kept_blanks = std::string_view(prompt).substr(at, unindented.size()) == *text;
  prompt.resize(at + (kept_blanks ? unindented : stripped).size());
  return prompt;
}

Error located(const jinja::Failure& failure, int line) {
  return fail(failure.status, "chat template, line " +
                                  std::to_string(failure.line > 0 ? failure.line : line) + ": " +
                                  failure.message);
}

}  // namespace

struct ChatTemplate::Program {
  std::string source;
  jinja::Body body;
};

ChatTemplate::ChatTemplate(std::unique_ptr<const Program> program) : program_(std::move(program)) {}
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

const std::string& ChatTemplate::source() const {
  return program_->source;
}

Result<ChatTemplate> ChatTemplate::parse(std::string source) {
  if (source.size() > kMaxSourceBytes) {
    return fail(HALOGEN_E_INVALID, "the chat template is longer than 1 MiB");
  }
  try {
    jinja::Body body = jinja::parse_template(source);
    return ChatTemplate(
        std::make_unique<const Program>(Program{std::move(source), std::move(body)}));
  } catch (const jinja::Failure& failure) {
    return located(failure, 1);
  } catch (const std::bad_alloc&) {
    return fail(HALOGEN_E_NO_MEMORY, "out of memory while parsing a chat template");
  }
}

Result<std::string> ChatTemplate::render(const TemplateInput& input,
                                         const jinja::Limits& limits) const {
  if (input.continue_final_message && input.add_generation_prompt) {
    return fail(
        HALOGEN_E_INVALID,
        "continue_final_message and add_generation_prompt exclude each other; ask for one of them");
  }
  Interpreter interpreter(limits, input.local_time);
  try {
    Scope& scope = interpreter.make_scope(&make_globals(interpreter, input));
    jinja::execute_body(program_->body, interpreter, scope);
    if (input.continue_final_message)
      return cut_after_final_message(interpreter.take_output(), input);
    return interpreter.take_output();
  } catch (const jinja::Failure& failure) {
    return located(failure, interpreter.line());
  } catch (const std::bad_alloc&) {
    return fail(HALOGEN_E_NO_MEMORY, "out of memory while rendering a chat template");
  } catch (const nlohmann::ordered_json::exception& error) {
    return fail(HALOGEN_E_INTERNAL,
                std::string("converting a chat template's input: ") + error.what());
  }
}

}  // namespace halogen
