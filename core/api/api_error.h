// Errors in the shape that OpenAI's clients know, naming the parameter that is wrong.
#pragma once

#include <string>

#include "core/api/json.h"
#include "core/base/result.h"
#include "core/engine/engine.h"
#include "core/http/exchange.h"

namespace halogen::api {

struct ApiError {
  int status = 400;
  std::string message;
  std::string param;         // "messages[0].content"; empty: none in particular
  std::string code;          // "model_not_found"; empty: none
  uint32_t retry_after = 1;  // seconds, for 429 and 503
};

// {"error": {"message", "type", "param", "code"}}
Json error_json(const ApiError& error);

// Answers with the error; a 429 or 503 also says when to try again.
void respond(http::Exchange& exchange, const ApiError& error);

// How an engine's error looks to a client: a full queue is 429, a bad parameter 400, the rest 500.
ApiError from_engine(const Error& error, const EngineStats& stats);

// When a client that found the queue full should try again: seconds in which the queue, as it
// stands, empties at the speed at which requests have been served lately; 1 to 60.
uint32_t retry_after(const EngineStats& stats);

}  // namespace halogen::api
