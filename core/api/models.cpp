#include "core/api/models.h"

#include <algorithm>

namespace halogen::api {
namespace {

Json describe(const ModelAccess& model, const std::string& name) {
  return Json{{"id", name},
              {"object", "model"},
              {"created", model.created},
              {"owned_by", "halogen"},
              {"max_model_len", model.engine->limits().max_context}};
}

}  // namespace

bool answers_to(const ModelAccess& model, std::string_view name) {
  return std::find(model.names.begin(), model.names.end(), name) != model.names.end();
}

ApiError unknown_model(const ModelAccess* model, std::string_view name) {
  std::string served;
  if (model) {
    for (const std::string& known : model->names) served += (served.empty() ? "" : ", ") + known;
  }
  return {404,
          "the model '" + shown_text(name) +
              "' is not served here; served: " + (model ? served : "none yet"),
          "model", "model_not_found"};
}

void list_models(http::Exchange& exchange, const ModelAccess* model) {
  Json data = Json::array();
  if (model) {
    for (const std::string& name : model->names) data.push_back(describe(*model, name));
  }
  exchange.respond(200, "application/json",
                   to_text(Json{{"object", "list"}, {"data", std::move(data)}}));
}

void show_model(http::Exchange& exchange, const ModelAccess* model, std::string_view name) {
  if (!model || !answers_to(*model, name)) return respond(exchange, unknown_model(model, name));
  exchange.respond(200, "application/json", to_text(describe(*model, std::string(name))));
}

}  // namespace halogen::api
