#include "core/api/endpoint.h"

#include <new>
#include <utility>

#include "core/api/fields.h"
#include "core/api/models.h"

namespace halogen::api {
namespace {

Reply read(std::string_view text, const ModelAccess& model, Endpoint endpoint) {
  const auto body = parse_json(text);
  if (!body) return refusal({400, body.error().message, "", "invalid_json"});
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

Reply read_request(std::string_view body, const ModelAccess& model, Endpoint endpoint) {
  try {
    return read(body, model, endpoint);
  } catch (const std::bad_alloc&) {
    return refusal({503, "there is not enough memory to read the request", "", "out_of_memory"});
  }
}

}  // namespace halogen::api
