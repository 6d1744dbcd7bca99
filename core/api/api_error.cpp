#include "core/api/api_error.h"

#include "core/http/error_body.h"

namespace halogen::api {
namespace {

constexpr const char* kRetrySeconds = "1";

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

std::string type_of(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 429:
      return "rate_limit_error";
    default:
      return std::string(http::error_type(status));
  }
}

}  // namespace

Json error_json(const ApiError& error) {
  Json body;
  body["message"] = error.message;
  body["type"] = type_of(error.status);
  body["param"] = text_or_null(error.param);
  body["code"] = text_or_null(error.code);
  return Json{{"error", std::move(body)}};
}

void respond(http::Exchange& exchange, const ApiError& error) {
  std::vector<http::Header> headers;
  if (error.status == 429 || error.status == 503) headers.push_back({"Retry-After", kRetrySeconds});
  exchange.respond(error.status, "application/json", to_text(error_json(error)), headers);
}

ApiError from_engine(const Error& error) {
  switch (error.status) {
    case HALOGEN_E_BUSY:
      return {429, error.message, "", "queue_full"};
    case HALOGEN_E_INVALID:
      return {400, error.message, "", "invalid_value"};
    case HALOGEN_E_UNSUPPORTED:
      return {400, error.message, "", "unsupported_value"};
    default:
      return {500, error.message, "", "engine_error"};
  }
}

}  // namespace halogen::api
