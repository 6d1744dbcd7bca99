// The engine's figures as Prometheus metrics, brought up to date when somebody asks for them.
#pragma once

#include <memory>
#include <vector>

#include "core/base/metrics.h"
#include "core/engine/engine.h"

namespace halogen::api {

class EngineMetrics {
 public:
  // [worker]
  explicit EngineMetrics(MetricRegistry& registry);

  // [loop]
  void update(const EngineStats& stats);

 private:
  struct Entry {
    Metric* metric;
    double (*value)(const EngineStats& stats);
    double last = 0;
  };
  MetricGroup group_;
  std::vector<Entry> entries_;
};

}  // namespace halogen::api
