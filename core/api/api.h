// The HTTP API: which request goes where, and who may send it.
//
//   POST /v1/chat/completions   POST /v1/completions   GET /v1/models[/NAME]
//   POST /tokenize   POST /detokenize   GET /health   GET /readyz   GET /livez   GET /metrics
//
// JSON in and out and nothing else: what a request asks for is the engine's work.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/api/engine_metrics.h"
#include "core/api/health.h"
#include "core/api/json.h"
#include "core/api/model_access.h"
#include "core/base/metrics.h"
#include "core/http/exchange.h"

namespace halogen::api {

struct ApiOptions {
  std::vector<std::string>
      keys;  // "Authorization: Bearer KEY" must carry one of them; empty: nobody asks
  bool metrics = true;
};

class Api {
 public:
  // [worker] The registry outlives the API.
  Api(ApiOptions options, MetricRegistry& registry);

  // [loop] What the health endpoints report, and whether requests are taken.
  void set_state(ServerState state) { state_ = std::move(state); }
  // [loop] From here on requests are served; an empty optional takes the model away.
  void set_model(std::optional<ModelAccess> model) { model_ = std::move(model); }

  // [loop]
  void handle(const std::shared_ptr<http::Exchange>& exchange);

 private:
  struct Route;
  using Handler = void (Api::*)(const std::shared_ptr<http::Exchange>& exchange);
  static const std::vector<Route>& routes();

  bool allowed(const http::Request& request) const;
  void serve_metrics(const std::shared_ptr<http::Exchange>& exchange);
  void serve_health(const std::shared_ptr<http::Exchange>& exchange);
  void serve_livez(const std::shared_ptr<http::Exchange>& exchange);
  void serve_models(const std::shared_ptr<http::Exchange>& exchange);
  void serve_model(const std::shared_ptr<http::Exchange>& exchange);
  void serve_chat(const std::shared_ptr<http::Exchange>& exchange);
  void serve_completions(const std::shared_ptr<http::Exchange>& exchange);
  void serve_tokenize(const std::shared_ptr<http::Exchange>& exchange);
  void serve_detokenize(const std::shared_ptr<http::Exchange>& exchange);
  // The body as an object for the model it names; what is wrong is answered.
  std::optional<Json> read_body(http::Exchange& exchange);

  ApiOptions options_;
  MetricRegistry& registry_;
  EngineMetrics engine_metrics_;
  ServerState state_;
  std::optional<ModelAccess> model_;
};

}  // namespace halogen::api
