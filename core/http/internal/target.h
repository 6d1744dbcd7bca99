// Splitting a request target ("/v1/models/a%2Fb?limit=2") into what handlers route on.
// Source: RFC 9112 section 3.2, RFC 3986; query parameters as in the URL standard's
// application/x-www-form-urlencoded.
#pragma once

#include <string_view>

#include "core/http/request.h"

namespace halogen::http {

// Fills request.path and request.query from request.target. Takes the origin form, the absolute
// form and "*". False when the path is not a path, has a bad percent escape, or hides a NUL.
bool split_target(Request& request);

}  // namespace halogen::http
