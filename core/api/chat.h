// POST /v1/chat/completions
#pragma once

#include "core/api/endpoint.h"

namespace halogen::api {

// [any] An Endpoint.
Reply chat_completions(const Json& body, const ModelAccess& model);

}  // namespace halogen::api
