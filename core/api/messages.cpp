#include "core/api/messages.h"

#include <algorithm>

#include "core/text/template/conversation.h"

namespace halogen::api {
namespace {

constexpr std::string_view kRoles[] = {"system",    "developer", "user",
                                       "assistant", "tool",      "function"};

// The text of a content that is a list of parts, each on a line of its own.
std::string join_parts(Fields& fields, const std::string& param, const Json& parts) {
  std::string text;
  for (size_t i = 0; i < parts.size(); i++) {
    const std::string at = param + "[" + std::to_string(i) + "]";
    const Json& part = parts[i];
    const auto type = part.is_object() ? part.find("type") : part.end();
    if (type == part.end() || !type->is_string()) {
      fields.refuse(at, "'" + at + "' must be an object with a 'type'", "invalid_type");
      return text;
    }
    if (*type != "text") {
      fields.refuse(at + ".type",
                    "'" + at + ".type' is " + shown(*type) + "; this model reads text only",
                    "unsupported_value");
      return text;
    }
    const auto content = part.find("text");
    if (content == part.end() || !content->is_string()) {
      fields.refuse(at + ".text", "'" + at + ".text' must be a string", "invalid_type");
      return text;
    }
    if (i > 0) text += '\n';
    text += content->get_ref<const std::string&>();
  }
  return text;
}

// Templates write a call's arguments as JSON themselves, clients send them as JSON in a string.
void open_arguments(Json& message) {
  const auto calls = message.find("tool_calls");
  if (calls == message.end() || !calls->is_array()) return;
  for (Json& call : *calls) {
    if (!call.is_object() || !call.contains("function") || !call["function"].is_object()) continue;
    Json& function = call["function"];
    const auto arguments = function.find("arguments");
    if (arguments == function.end() || !arguments->is_string()) continue;
    auto opened = parse_json(arguments->get_ref<const std::string&>());
    if (opened && opened->is_object()) *arguments = std::move(*opened);
  }
}

// Bytes of all strings.
size_t text_bytes(const Json& json) {
  if (json.is_string()) return json.get_ref<const std::string&>().size();
  size_t bytes = 0;
  for (const Json& element : json) {
    if (json.is_structured()) bytes += text_bytes(element);
  }
  return bytes;
}

void read_message(Fields& fields, const std::string& param, Json& message) {
  if (!message.is_object()) {
    return fields.refuse(param, "'" + param + "' must be an object, not " + type_of(message),
                         "invalid_type");
  }
  const auto role = message.find("role");
  if (role == message.end() || !role->is_string() ||
      std::find(std::begin(kRoles), std::end(kRoles), role->get_ref<const std::string&>()) ==
          std::end(kRoles)) {
    return fields.refuse(
        param + ".role",
        "'" + param + ".role' must be one of system, developer, user, assistant, tool");
  }
  // A template knows one role for instructions.
  if (*role == "developer") *role = "system";

  const auto content = message.find("content");
  const bool absent = content == message.end() || content->is_null();
  if (absent && *role != "assistant") {
    return fields.refuse(param + ".content", "'" + param + ".content' is missing");
  }
  if (!absent && content->is_array()) {
    *content = join_parts(fields, param + ".content", *content);
  } else if (!absent && !content->is_string()) {
    return fields.refuse(
        param + ".content",
        "'" + param + ".content' must be a string or a list of parts, not " + type_of(*content),
        "invalid_type");
  }
  open_arguments(message);
}

}  // namespace

bool fits_context(Fields& fields, const char* param, size_t bytes, const ModelAccess& model) {
  if (bytes / model.tokenizer->most_bytes_per_token() <= model.engine->limits().max_context)
    return true;
  fields.refuse(param,
                "'" + std::string(param) + "' has " + std::to_string(bytes) +
                    " bytes, which cannot fit the context of " +
                    std::to_string(model.engine->limits().max_context) + " tokens",
                "context_length_exceeded");
  return false;
}

Json read_messages(Fields& fields, const ModelAccess& model) {
  const Json* field = fields.find("messages");
  if (!field || !field->is_array() || field->empty()) {
    fields.refuse("messages", field ? "'messages' must be a list of at least one message"
                                    : "'messages' is missing");
    return {};
  }
  if (!fits_context(fields, "messages", text_bytes(*field), model)) return {};
  Json messages = *field;
  for (size_t i = 0; i < messages.size() && !fields.error(); i++) {
    read_message(fields, "messages[" + std::to_string(i) + "]", messages[i]);
  }
  return messages;
}

std::vector<int32_t> chat_prompt(Fields& fields, const ModelAccess& model) {
  const Json messages = read_messages(fields, model);
  const Json* variables = fields.find("chat_template_kwargs");
  if (variables && !variables->is_object()) {
    fields.refuse("chat_template_kwargs", "'chat_template_kwargs' must be an object",
                  "invalid_type");
  }
  bool add_generation_prompt = true;
  fields.boolean("add_generation_prompt", add_generation_prompt);
  if (!model.chat_template) {
    fields.refuse(
        "model",
        model.chat_template_error.empty()
            ? "this model has no chat template; use /v1/completions, or set model.chat_template"
            : "this model's chat template cannot be used: " + model.chat_template_error);
  }
  if (fields.error()) return {};
  auto ids = render_conversation(*model.tokenizer, *model.chat_template, messages, variables,
                                 add_generation_prompt);
  if (!ids) {
    fields.refuse("messages",
                  "the model's chat template refused the conversation: " + ids.error().message);
    return {};
  }
  return std::move(*ids);
}

}  // namespace halogen::api
