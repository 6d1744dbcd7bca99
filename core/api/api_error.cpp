#include "core/api/api_error.h"

#include <algorithm>

#include "core/http/error_body.h"

namespace halogen::api {
namespace {

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

}  // namespace

Json error_json(const ApiError& error) {
  Json body;
  body["message"] = error.message;
  body["type"] = http::error_type(error.status);
  body["param"] = text_or_null(error.param);
  body["code"] = text_or_null(error.code);
  return Json{{"error", std::move(body)}};
}

void respond(http::Exchange& exchange, const ApiError& error) {
  std::vector<http::Header> headers;
  if (error.status == 429 || error.status == 503) {
    headers.push_back({"Retry-After", std::to_string(error.retry_after)});
  }
  exchange.respond(error.status, "application/json", to_text(error_json(error)), headers);
}

uint32_t retry_after(const EngineStats& stats) {
  constexpr uint64_t kMicroseconds = 1'000'000, kLongest = 60;
  const uint64_t at_once = std::max<uint64_t>(stats.requests_running, 1);
  const uint64_t empty_in_us = stats.requests_waiting * stats.mean_service_us / at_once;
  const uint64_t seconds = (empty_in_us + kMicroseconds - 1) / kMicroseconds;
  return static_cast<uint32_t>(std::clamp<uint64_t>(seconds, 1, kLongest));
}

ApiError from_engine(const Error& error, const EngineStats& stats) {
  switch (error.status) {
    case HALOGEN_E_BUSY:
      return {429, error.message, "", "queue_full", retry_after(stats)};
    case HALOGEN_E_INVALID:
      return {400, error.message, "", "invalid_value"};
    case HALOGEN_E_UNSUPPORTED:
      return {400, error.message, "", "unsupported_value"};
    default:
      return {500, error.message, "", "engine_error"};
  }
}

}  // namespace halogen::api
