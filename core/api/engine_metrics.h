// The engine's figures at /metrics.
#pragma once

#include "core/api/stats_metrics.h"
#include "core/engine/engine.h"

namespace halogen::api {

class EngineMetrics : public StatsMetrics<EngineStats> {
 public:
  // [worker]
  explicit EngineMetrics(MetricRegistry& registry);
};

}  // namespace halogen::api
