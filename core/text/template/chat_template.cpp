// The door of the room: JSON becomes template values, and Failures become Errors.
#include "core/text/template/chat_template.h"

#include <new>

#include <nlohmann/json.hpp>

#include "core/text/template/interpreter.h"
#include "core/text/template/json.h"
#include "core/text/template/parser.h"

namespace halogen {

namespace {

using jinja::Interpreter;
using jinja::Scope;
using jinja::Value;

constexpr std::size_t kMaxSourceBytes = 4 << 20;  // the largest known template has 17 thousand

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
    return fail(HALOGEN_E_INVALID, "the chat template is longer than 4 MiB");
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
  Interpreter interpreter(limits, input.local_time);
  try {
    Scope& scope = interpreter.make_scope(&make_globals(interpreter, input));
    jinja::execute_body(program_->body, interpreter, scope);
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
