// The HTTP API: which request goes where, and who may send it.
//
//   POST /v1/chat/completions   POST /v1/completions   GET /v1/models[/NAME]
//   POST /tokenize   POST /detokenize   GET /health   GET /readyz   GET /livez   GET /metrics
//
// JSON in and out and nothing else: what a request asks for is the engine's work.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/api/api_keys.h"
#include "core/api/endpoint.h"
#include "core/api/engine_metrics.h"
#include "core/api/health.h"
#include "core/api/http_metrics.h"
#include "core/api/json.h"
#include "core/api/memory_metrics.h"
#include "core/api/model_access.h"
#include "core/base/metrics.h"
#include "core/http/exchange.h"
#include "core/http/refusal.h"
#include "core/loop/workers.h"

namespace halogen::api {

struct ApiOptions {
  std::vector<std::string> keys;  // a request must carry one of them; empty: nobody asks
  bool metrics = true;
};

class Api {
 public:
  // [loop] The loop and the registry outlive the API.
  Api(ApiOptions options, Loop& loop, MetricRegistry& registry);

  // [loop] What the health endpoints report, and whether requests are taken.
  void set_state(ServerState state) { state_ = std::move(state); }
  // [loop] From here on requests are served; an empty optional takes the model away. No
  // request may then be in work: see finish_reading().
  void set_model(std::optional<ModelAccess> model) { model_ = std::move(model); }

  // [loop] Where the HTTP server's figures for /metrics come from.
  void set_http_stats(std::function<http::ServerStats()> stats) { http_stats_ = std::move(stats); }

  // [loop, outside Loop::run()] Waits until every request that came has been read and is being
  // answered.
  void finish_reading() { workers_.finish(); }

  // [loop] What is wrong with a request as far as its head tells: no such path or method there, no
  // key, a body that cannot be read, nothing that could answer it now. For
  // http::ServerOptions::gate.
  std::optional<http::Refusal> admit(const http::Request& request) const;

  // [loop]
  void handle(const std::shared_ptr<http::Exchange>& exchange);

 private:
  struct Route;
  using Handler = void (Api::*)(const std::shared_ptr<http::Exchange>& exchange);
  static const std::vector<Route>& routes();
  static const Route* find(const http::Request& request);
  static std::string allowed(const http::Request& request);
  static http::Refusal no_route(const http::Request& request);

  void serve_options(http::Exchange& exchange) const;
  void serve_metrics(const std::shared_ptr<http::Exchange>& exchange);
  void serve_health(const std::shared_ptr<http::Exchange>& exchange);
  void serve_livez(const std::shared_ptr<http::Exchange>& exchange);
  void serve_models(const std::shared_ptr<http::Exchange>& exchange);
  void serve_model(const std::shared_ptr<http::Exchange>& exchange);
  void serve_chat(const std::shared_ptr<http::Exchange>& exchange);
  void serve_completions(const std::shared_ptr<http::Exchange>& exchange);
  void serve_tokenize(const std::shared_ptr<http::Exchange>& exchange);
  void serve_detokenize(const std::shared_ptr<http::Exchange>& exchange);
  // Reads the body, on a worker where it is long, and replies.
  void serve(const std::shared_ptr<http::Exchange>& exchange, Endpoint endpoint);

  const ApiKeys keys_;
  const bool metrics_;
  MetricRegistry& registry_;
  Workers workers_;
  EngineMetrics engine_metrics_;
  HttpMetrics http_metrics_;
  MemoryMetrics memory_metrics_;
  std::function<http::ServerStats()> http_stats_;  // may be empty
  ServerState state_;
  std::optional<ModelAccess> model_;
};

}  // namespace halogen::api
