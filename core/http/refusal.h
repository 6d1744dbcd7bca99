// A request that the server answers by itself, with an error, instead of handing it to the handler.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/http/header.h"
#include "core/http/request.h"

namespace halogen::http {

struct Refusal {
  int status = 0;
  std::string code;     // of the error body
  std::string message;  // of the error body
  std::vector<Header> headers;
};

// [loop] Looks at a request whose head is complete and whose body is not: what it refuses is
// answered without the body, and without inviting it where the client waits for that.
using Gate = std::function<std::optional<Refusal>(const Request& request)>;

}  // namespace halogen::http
