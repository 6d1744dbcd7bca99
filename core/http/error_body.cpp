#include "core/http/error_body.h"

#include <nlohmann/json.hpp>

namespace halogen::http {

namespace {

std::string quoted(std::string_view text) {
  using Json = nlohmann::json;
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

// Put together from strings: the library's objects do not survive running out of memory while they
// are built, and this is what is sent then.
std::string error_body(std::string_view message, std::string_view type, std::string_view code) {
  return R"({"error":{"message":)" + quoted(message) + R"(,"type":)" + quoted(type) +
         R"(,"param":null,"code":)" + (code.empty() ? "null" : quoted(code)) + "}}";
}

std::string_view error_type(int status) {
  if (status == 401) return "authentication_error";
  if (status == 429) return "rate_limit_error";
  return status < 500 ? "invalid_request_error" : "server_error";
}

}  // namespace halogen::http
