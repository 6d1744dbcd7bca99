// How the process holds its memory, at /metrics.
#pragma once

#include "core/api/stats_metrics.h"
#include "core/base/process_memory.h"

namespace halogen::api {

class MemoryMetrics : public StatsMetrics<ProcessMemory> {
 public:
  // [worker]
  explicit MemoryMetrics(MetricRegistry& registry);
};

}  // namespace halogen::api
