// An endpoint that takes a body: reading the request, which may take long and so may happen on a
// worker, is apart from answering it, which belongs to the loop.
#pragma once

#include <functional>
#include <memory>

#include "core/api/api_error.h"
#include "core/api/model_access.h"

namespace halogen::api {

// [loop] Answers a request, or begins what will; called once at most.
using Reply = std::function<void(const std::shared_ptr<http::Exchange>& exchange)>;

// [any] What the request of this body is answered with. Of the model it uses only what never
// changes: tokenizer, template, limits.
using Endpoint = Reply (*)(const Json& body, const ModelAccess& model);

Reply refusal(ApiError error);
Reply json_reply(const Json& json);

// [any] Parses a request's body, finds out whether the model is the one it names, and lets the
// endpoint read it. What the body is said to be, its `content_type`, matters only where it is not
// JSON. Running out of memory is a reply too, and so is any exception.
Reply read_request(std::string_view body, std::string_view content_type, const ModelAccess& model,
                   Endpoint endpoint);

}  // namespace halogen::api
