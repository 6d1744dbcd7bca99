#include "core/api/endpoint.h"

#include <exception>
#include <new>
#include <utility>

#include "core/api/fields.h"
#include "core/api/models.h"
#include "core/base/log.h"

namespace halogen::api {
namespace {

Reply read(std::string_view text, std::string_view content_type, const ModelAccess& model,
           Endpoint endpoint) {
  if (text.empty()) {
    return refusal({400, "the request has no body; send a JSON object", "", "invalid_json"});
  }
  const auto body = parse_json(text);
  if (!body) {
    const bool is_json = content_type.empty() || content_type.find("json") != content_type.npos;
    return refusal(
        {400,
         body.error().message + (is_json ? ""
                                         : "; its Content-Type is '" + std::string(content_type) +
                                               "', send application/json"),
         "", "invalid_json"});
  }
  if (!body->is_object()) {
    return refusal({400, "the request's body must be a JSON object, not " + type_of(*body), "",
                    "invalid_type"});
  }
  Fields fields(*body);
  std::string name = model.names.front();
  fields.text("model", name);
  if (fields.error()) return refusal(*fields.error());
  if (!answers_to(model, name)) return refusal(unknown_model(&model, name));
  return endpoint(*body, model);
}

}  // namespace

Reply refusal(ApiError error) {
  return [error = std::move(error)](const std::shared_ptr<http::Exchange>& exchange) {
    respond(*exchange, error);
  };
}

Reply json_reply(const Json& json) {
  return [text = to_text(json)](const std::shared_ptr<http::Exchange>& exchange) {
    exchange->respond(200, "application/json", text);
  };
}

Reply read_request(std::string_view body, std::string_view content_type, const ModelAccess& model,
                   Endpoint endpoint) {
  try {
    return read(body, content_type, model, endpoint);
  } catch (const std::bad_alloc&) {
    return refusal({503, "there is not enough memory to read the request", "", "out_of_memory"});
  } catch (const std::exception& error) {
    log_error("api", std::string("reading a request failed: ") + error.what());
    return refusal({500, "the server failed while reading this request", "", "internal_error"});
  }
}

}  // namespace halogen::api
