// POST /v1/completions
#pragma once

#include "core/api/endpoint.h"

namespace halogen::api {

// [any] An Endpoint.
Reply text_completions(const Json& body, const ModelAccess& model);

}  // namespace halogen::api
