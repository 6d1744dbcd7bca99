// The figures of one part of the server as Prometheus metrics, brought up to date when somebody
// asks for them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/metrics.h"

namespace halogen::api {

// `Stats` is a plain struct of figures, such as EngineStats.
template <typename Stats>
class StatsMetrics {
 public:
  struct Definition {
    MetricKind kind;
    const char* name;
    const char* help;
    double (*value)(const Stats& stats);
  };

  // [worker]
  StatsMetrics(MetricRegistry& registry, std::span<const Definition> definitions)
      : group_(registry) {
    for (const Definition& definition : definitions) {
      auto metric = group_.make(definition.kind, definition.name, definition.help);
      if (metric) entries_.push_back({*metric, definition.value});
    }
  }

  // [loop]
  void update(const Stats& stats) {
    for (Entry& entry : entries_) {
      const double value = entry.value(stats);
      if (entry.metric->kind() == MetricKind::counter) {
        entry.metric->add(value - entry.last);
        entry.last = value;
      } else {
        entry.metric->set(value);
      }
    }
  }

 private:
  struct Entry {
    Metric* metric;
    double (*value)(const Stats& stats);
    double last = 0;
  };
  MetricGroup group_;
  std::vector<Entry> entries_;
};

// A member of `Stats` as it is.
template <auto Member, typename Stats>
double figure(const Stats& stats) {
  return static_cast<double>(stats.*Member);
}

}  // namespace halogen::api
