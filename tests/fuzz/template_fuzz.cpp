// Bytes: a chat template, and after a line of "-----" what it sees: a JSON object with messages,
// tools and further variables. Without the second part it sees a conversation of this file.
#include <cstring>

#include <nlohmann/json.hpp>

#include "core/text/template/chat_template.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace halogen;
using Json = nlohmann::ordered_json;

constexpr std::string_view kSeparator = "\n-----\n";
constexpr std::string_view kConversation = R"({
  "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "<think>ü</think> hi"},
    {"role": "assistant", "content": "", "reasoning_content": "r", "tool_calls": [{"id": "abcdefghi",
      "type": "function", "function": {"name": "f", "arguments": {"a": [1, 2.5, null, true]}}}]},
    {"role": "tool", "name": "f", "tool_call_id": "abcdefghi", "content": [{"type": "text", "text": "r"}]}],
  "tools": [{"type": "function", "function": {"name": "f", "description": "d", "parameters":
    {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}}}}],
  "enable_thinking": true})";

// Small enough that an input ends in a moment, large enough for any real template.
jinja::Limits small_limits() {
  jinja::Limits limits;
  limits.steps = 200'000;
  limits.memory_bytes = 16 << 20;
  limits.output_bytes = 1 << 20;
  return limits;
}

Json read_context(std::string_view text) {
  Json context = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return context.is_object() ? context : Json::parse(kConversation);
}

// Jinja's lines end with \n, \r\n or \r.
long count_lines(std::string_view source) {
  long lines = 1;
  for (size_t i = 0; i < source.size(); i++) {
    const bool before_feed = i + 1 < source.size() && source[i + 1] == '\n';
    if (source[i] == '\n' || (source[i] == '\r' && !before_feed)) lines++;
  }
  return lines;
}

// "chat template, line 3: …": the line is one of the template's.
void check_error(const Error& error, std::string_view source) {
  const std::string_view message = error.message;
  constexpr std::string_view prefix = "chat template, line ";
  fuzz::require(message.starts_with(prefix), "an error names the line", message);
  const long line = std::strtol(error.message.c_str() + prefix.size(), nullptr, 10);
  const long lines = count_lines(source);
  fuzz::require(line >= 1 && line <= lines, "the line of an error is the template's", message);
  const size_t colon = message.find(": ");
  fuzz::require(colon != std::string_view::npos && colon + 2 < message.size(),
                "an error says what is wrong", message);
}

Result<std::string> render(const ChatTemplate& parsed, const Json& context,
                           const jinja::Limits& limits) {
  const auto find = [&](const char* key) {
    return context.contains(key) ? &context.at(key) : nullptr;
  };
  TemplateInput input;
  input.messages = find("messages");
  input.tools = find("tools");
  input.documents = find("documents");
  input.variables = &context;
  input.bos_token = "<s>";
  input.local_time = std::tm{};
  return parsed.render(input, limits);
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto [source, second] = fuzz::split_once(fuzz::text_of(data, size), kSeparator);
  const auto parsed = ChatTemplate::parse(std::string(source));
  if (!parsed) {
    check_error(parsed.error(), source);
    return 0;
  }
  const Json context = read_context(second);
  const jinja::Limits limits = small_limits();
  const auto once = render(*parsed, context, limits);
  const auto twice = render(*parsed, context, limits);
  fuzz::require(once.ok() == twice.ok(), "a template renders the same each time");
  if (!once) {
    if (once.error().status != HALOGEN_E_NO_MEMORY) check_error(once.error(), source);
    fuzz::require(once.error().message == twice.error().message, "an error is the same each time",
                  once.error().message);
    return 0;
  }
  fuzz::require(*once == *twice, "a template renders the same each time", *once);
  fuzz::require(once->size() <= limits.output_bytes, "the output keeps to its limit");
  return 0;
}
