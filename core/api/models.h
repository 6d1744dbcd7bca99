// GET /v1/models and /v1/models/NAME
#pragma once

#include <string_view>

#include "core/api/api_error.h"
#include "core/api/model_access.h"
#include "core/http/exchange.h"

namespace halogen::api {

// [loop] `model` is null while none is ready: the list is empty then.
void list_models(http::Exchange& exchange, const ModelAccess* model);
void show_model(http::Exchange& exchange, const ModelAccess* model, std::string_view name);

// Whether the model answers to `name`.
bool answers_to(const ModelAccess& model, std::string_view name);

// 404 with the names there are.
ApiError unknown_model(const ModelAccess* model, std::string_view name);

}  // namespace halogen::api
