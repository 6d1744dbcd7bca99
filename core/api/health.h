// GET /livez, /readyz and /health: whether work gets done, not whether the process is there.
#pragma once

#include <cstdint>
#include <string>

#include "core/engine/engine.h"
#include "core/http/exchange.h"

namespace halogen::api {

// How far the server is.
struct ServerState {
  enum class Phase : uint8_t { loading, ready, failed, draining };
  Phase phase = Phase::loading;
  std::string stage;    // of loading: "reading weights"
  double fraction = 0;  // of the stage
};

// [loop] 200 always: the loop that answers is alive.
void livez(http::Exchange& exchange);

// [loop] 200 while requests can be served, 503 with the reason otherwise. A step that has not ended
// for `kStalled` microseconds although requests run makes the server not ready. `engine` may be
// null.
void readyz(http::Exchange& exchange, const ServerState& state, const Engine* engine);

inline constexpr uint64_t kStalled = 10'000'000;

// [any] Why an engine gets no work done: its last step failed, or one has been at it for too long.
// Empty where it does, or has none.
std::string engine_trouble(const EngineStats& stats);

}  // namespace halogen::api
