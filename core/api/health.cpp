#include "core/api/health.h"

#include "core/api/json.h"
#include "core/engine/engine_counters.h"

namespace halogen::api {
namespace {

// Why requests cannot be served now; empty where they can.
std::string reason_not_ready(const ServerState& state, const Engine* engine,
                             const EngineStats& stats) {
  switch (state.phase) {
    case ServerState::Phase::loading:
      return "loading";
    case ServerState::Phase::failed:
      return "failed";
    case ServerState::Phase::draining:
      return "draining";
    case ServerState::Phase::ready:
      break;
  }
  if (!engine) return "loading";
  return engine_trouble(stats);
}

}  // namespace

std::string engine_trouble(const EngineStats& stats) {
  if (!stats.healthy) return "backend failed";
  const bool stalled =
      stats.requests_running > 0 && monotonic_us() > stats.last_progress_us + kStalled;
  return stalled ? "stalled" : "";
}

void livez(http::Exchange& exchange) {
  exchange.respond(200, "application/json", R"({"status":"ok"})");
}

void readyz(http::Exchange& exchange, const ServerState& state, const Engine* engine) {
  const EngineStats stats = engine ? engine->stats() : EngineStats{};
  const std::string reason = reason_not_ready(state, engine, stats);
  Json reply{{"status", reason.empty() ? "ok" : reason}};
  if (state.phase == ServerState::Phase::loading && !state.stage.empty()) {
    reply["stage"] = state.stage;
    reply["fraction"] = state.fraction;
  }
  if (engine) {
    reply["requests_running"] = stats.requests_running;
    reply["requests_waiting"] = stats.requests_waiting;
    reply["kv_blocks_used"] = stats.blocks_used;
    reply["kv_blocks_total"] = stats.blocks_total;
  }
  exchange.respond(reason.empty() ? 200 : 503, "application/json", to_text(reply));
}

}  // namespace halogen::api
