// POST /v1/chat/completions
#pragma once

#include <memory>

#include "core/api/json.h"
#include "core/api/model_access.h"
#include "core/base/result.h"
#include "core/http/exchange.h"

namespace halogen::api {

// [loop]
void chat_completions(std::shared_ptr<http::Exchange> exchange, const ModelAccess& model,
                      const Json& body);

}  // namespace halogen::api
