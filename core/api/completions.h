// POST /v1/completions
#pragma once

#include <memory>

#include "core/api/json.h"
#include "core/api/model_access.h"
#include "core/http/exchange.h"

namespace halogen::api {

// [loop]
void text_completions(std::shared_ptr<http::Exchange> exchange, const ModelAccess& model,
                      const Json& body);

}  // namespace halogen::api
