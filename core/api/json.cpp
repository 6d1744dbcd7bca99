#include "core/api/json.h"

namespace halogen::api {
namespace {

constexpr int kDeepest = 64;

// The deepest nesting of brackets outside strings.
int nesting(std::string_view text) {
  int depth = 0, deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') i++;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if (c == ']' || c == '}') depth--;
  }
  return deepest;
}

// The library's sentence without its number: "[json.exception.parse_error.101] parse error at line
// 1, …".
std::string without_number(const std::string& message) {
  const size_t end = message.find("] ");
  return end == std::string::npos ? message : message.substr(end + 2);
}

}  // namespace

Result<Json> parse_json(std::string_view text) {
  if (nesting(text) > kDeepest) {
    return fail(HALOGEN_E_INVALID,
                "the request's JSON is nested more than " + std::to_string(kDeepest) + " deep");
  }
  try {
    return Json::parse(text);
  } catch (const std::exception& error) {
    return fail(HALOGEN_E_INVALID,
                "the request's body is not JSON: " + without_number(error.what()));
  }
}

std::string to_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace halogen::api
