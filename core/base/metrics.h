// The numbers shown at /metrics, in Prometheus' text format.
//
// Making a metric takes a lock and allocates; changing one is a few atomic operations, so that the
// step loop may count. A metric belongs to the groups that asked for it (a room of the core, one
// generation of a plugin) and disappears with the last of them: while a plugin is being replaced,
// the old and the new generation count into the same series.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace halogen {

enum class MetricKind { counter, gauge, histogram };

// Label names and their plain values, in the order in which they are shown.
using MetricLabels = std::vector<std::pair<std::string, std::string>>;

// One series. Owned by the registry.
class Metric {
 public:
  // `bounds`: the upper bounds of a histogram's buckets, ascending, without +Inf; empty otherwise.
  Metric(MetricKind kind, std::vector<double> bounds);

  // [any] Lock-free. Counters and gauges; a counter ignores a negative amount.
  void add(double amount);
  // [any] Lock-free. Gauges; ignored elsewhere.
  void set(double value);
  // [any] Lock-free. Histograms; ignored elsewhere.
  void observe(double value);

  MetricKind kind() const { return kind_; }
  // The value, or the sum of a histogram's observations.
  double value() const { return value_.load(std::memory_order_relaxed); }
  const std::vector<double>& bounds() const { return bounds_; }
  // Observations in each bucket, not cumulated; the last one is above all bounds.
  std::vector<uint64_t> bucket_counts() const;

 private:
  MetricKind kind_;
  std::atomic<double> value_{0};
  std::vector<double> bounds_;
  std::unique_ptr<std::atomic<uint64_t>[]> buckets_;
};

class MetricGroup;

class MetricRegistry {
 public:
  MetricRegistry() = default;
  MetricRegistry(const MetricRegistry&) = delete;
  MetricRegistry& operator=(const MetricRegistry&) = delete;

  // [any] Everything in Prometheus' text exposition format 0.0.4, sorted by name and labels.
  // https://prometheus.io/docs/instrumenting/exposition_formats/
  std::string text() const;

 private:
  friend class MetricGroup;
  struct Series {
    Metric metric;
    MetricLabels labels;
    unsigned users = 0;
  };
  struct Family {
    MetricKind kind;
    std::string help;
    std::map<std::string, std::unique_ptr<Series>> series;  // by the labels as shown
  };
  mutable std::mutex mutex_;
  std::map<std::string, Family, std::less<>> families_;
};

// The metrics of one owner; they live as long as it does. Outlived by its registry.
class MetricGroup {
 public:
  explicit MetricGroup(MetricRegistry& registry) : registry_(registry) {}
  ~MetricGroup();
  MetricGroup(const MetricGroup&) = delete;
  MetricGroup& operator=(const MetricGroup&) = delete;

  // [worker] Makes, or finds again, a series; valid until the group ends. `name` is shown as it is:
  // letters, digits and underscores, and for a counter _total at its end. `bounds` may be empty:
  // the name's unit (_seconds, _bytes) then chooses the buckets. Errors: HALOGEN_E_INVALID for a
  // malformed name or label, or for a name that is in use with another kind.
  Result<Metric*> make(MetricKind kind, std::string_view name, std::string_view help,
                       MetricLabels labels = {}, std::vector<double> bounds = {});

 private:
  MetricRegistry& registry_;
  std::mutex mutex_;
  std::vector<std::pair<std::string, std::string>> held_;  // name, labels as shown
};

// [any] Reads `key="value",…` with the escapes of the text format (\\, \", \n); empty text is no
// labels. Errors say at which byte.
Result<MetricLabels> parse_metric_labels(std::string_view text);

}  // namespace halogen
