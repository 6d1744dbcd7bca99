#include "core/http/error_body.h"

#include <nlohmann/json.hpp>

namespace halogen::http {

std::string error_body(std::string_view message, std::string_view type, std::string_view code) {
  using Json = nlohmann::ordered_json;
  Json error;
  error["message"] = message;
  error["type"] = type;
  error["param"] = nullptr;
  error["code"] = code.empty() ? Json(nullptr) : Json(code);
  Json body;
  body["error"] = std::move(error);
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string_view error_type(int status) {
  if (status == 401) return "authentication_error";
  if (status == 429) return "rate_limit_error";
  return status < 500 ? "invalid_request_error" : "server_error";
}

}  // namespace halogen::http
