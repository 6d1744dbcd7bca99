#include "core/api/engine_metrics.h"

namespace halogen::api {
namespace {

struct Definition {
  MetricKind kind;
  const char* name;
  const char* help;
  double (*value)(const EngineStats& stats);
};

template <auto Member>
double field(const EngineStats& stats) {
  return static_cast<double>(stats.*Member);
}

constexpr Definition kDefinitions[] = {
    {MetricKind::gauge, "halogen_requests_running", "Requests in the batch",
     field<&EngineStats::requests_running>},
    {MetricKind::gauge, "halogen_requests_waiting", "Requests in the queue",
     field<&EngineStats::requests_waiting>},
    {MetricKind::counter, "halogen_requests_finished_total", "Requests that ran to their end",
     field<&EngineStats::requests_finished>},
    {MetricKind::counter, "halogen_requests_cancelled_total", "Requests whose client left",
     field<&EngineStats::requests_cancelled>},
    {MetricKind::counter, "halogen_requests_failed_total", "Requests ended by a backend's failure",
     field<&EngineStats::requests_failed>},
    {MetricKind::counter, "halogen_preemptions_total",
     "Requests that gave their KV blocks up for others", field<&EngineStats::preemptions>},
    {MetricKind::counter, "halogen_plans_refused_total", "Steps planned without a faulty scheduler",
     field<&EngineStats::plans_refused>},
    {MetricKind::counter, "halogen_prompt_tokens_total", "Prompt tokens computed",
     field<&EngineStats::prompt_tokens>},
    {MetricKind::counter, "halogen_generated_tokens_total", "Tokens generated",
     field<&EngineStats::generated_tokens>},
    {MetricKind::counter, "halogen_steps_total", "Steps of the engine", field<&EngineStats::steps>},
    {MetricKind::gauge, "halogen_kv_blocks_used", "KV blocks that sequences hold",
     field<&EngineStats::blocks_used>},
    {MetricKind::gauge, "halogen_kv_blocks", "KV blocks in the pool",
     field<&EngineStats::blocks_total>},
    {MetricKind::gauge, "halogen_last_step_seconds", "Duration of the last step",
     [](const EngineStats& stats) { return static_cast<double>(stats.last_step_us) * 1e-6; }},
    {MetricKind::gauge, "halogen_engine_healthy", "1 unless the last step failed",
     [](const EngineStats& stats) { return stats.healthy ? 1.0 : 0.0; }},
};

}  // namespace

EngineMetrics::EngineMetrics(MetricRegistry& registry) : group_(registry) {
  for (const Definition& definition : kDefinitions) {
    auto metric = group_.make(definition.kind, definition.name, definition.help);
    if (metric) entries_.push_back({*metric, definition.value});
  }
}

void EngineMetrics::update(const EngineStats& stats) {
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

}  // namespace halogen::api
