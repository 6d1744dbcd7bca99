// The HTTP server's figures at /metrics.
#pragma once

#include "core/api/stats_metrics.h"
#include "core/http/server.h"

namespace halogen::api {

class HttpMetrics : public StatsMetrics<http::ServerStats> {
 public:
  // [worker]
  explicit HttpMetrics(MetricRegistry& registry);
};

}  // namespace halogen::api
