#include "core/api/engine_metrics.h"

namespace halogen::api {
namespace {

// Nanoseconds as seconds.
template <auto Member>
double seconds(const EngineStats& stats) {
  return static_cast<double>(stats.*Member) * 1e-9;
}

constexpr EngineMetrics::Definition kDefinitions[] = {
    {MetricKind::gauge, "halogen_requests_running", "Requests in the batch",
     figure<&EngineStats::requests_running>},
    {MetricKind::gauge, "halogen_requests_waiting", "Requests in the queue",
     figure<&EngineStats::requests_waiting>},
    {MetricKind::counter, "halogen_requests_finished_total", "Requests that ran to their end",
     figure<&EngineStats::requests_finished>},
    {MetricKind::counter, "halogen_requests_cancelled_total", "Requests whose client left",
     figure<&EngineStats::requests_cancelled>},
    {MetricKind::counter, "halogen_requests_failed_total", "Requests ended by a backend's failure",
     figure<&EngineStats::requests_failed>},
    {MetricKind::counter, "halogen_preemptions_total",
     "Requests that gave their KV blocks up for others", figure<&EngineStats::preemptions>},
    {MetricKind::counter, "halogen_plans_refused_total", "Steps planned without a faulty scheduler",
     figure<&EngineStats::plans_refused>},
    {MetricKind::counter, "halogen_prompt_tokens_total", "Prompt tokens computed",
     figure<&EngineStats::prompt_tokens>},
    {MetricKind::counter, "halogen_generated_tokens_total", "Tokens generated",
     figure<&EngineStats::generated_tokens>},
    {MetricKind::counter, "halogen_steps_total", "Steps of the engine",
     figure<&EngineStats::steps>},
    {MetricKind::gauge, "halogen_kv_blocks_used", "KV blocks that sequences hold",
     figure<&EngineStats::blocks_used>},
    {MetricKind::gauge, "halogen_kv_blocks", "KV blocks in the pool",
     figure<&EngineStats::blocks_total>},
    {MetricKind::gauge, "halogen_kv_blocks_cached",
     "KV blocks of the prefix cache that no sequence holds", figure<&EngineStats::blocks_cached>},
    {MetricKind::counter, "halogen_prefix_cache_queried_tokens_total",
     "Tokens of requests when they began or began again",
     figure<&EngineStats::cache_queried_tokens>},
    {MetricKind::counter, "halogen_prefix_cache_hit_tokens_total",
     "Of those, tokens that did not have to be computed", figure<&EngineStats::cache_hit_tokens>},
    {MetricKind::counter, "halogen_prefix_cache_evicted_blocks_total",
     "KV blocks thrown out of the prefix cache", figure<&EngineStats::cache_evicted_blocks>},
    {MetricKind::gauge, "halogen_kv_host_blocks_used", "KV blocks in the second tier",
     figure<&EngineStats::host_blocks_used>},
    {MetricKind::gauge, "halogen_kv_host_blocks", "KV blocks that the second tier holds",
     figure<&EngineStats::host_blocks_total>},
    {MetricKind::counter, "halogen_kv_host_stored_blocks_total",
     "KV blocks moved to the second tier", figure<&EngineStats::blocks_stored>},
    {MetricKind::counter, "halogen_kv_host_loaded_blocks_total",
     "KV blocks moved back from the second tier", figure<&EngineStats::blocks_loaded>},
    {MetricKind::gauge, "halogen_last_step_seconds", "Duration of the last step",
     [](const EngineStats& stats) { return static_cast<double>(stats.last_step_us) * 1e-6; }},
    {MetricKind::counter, "halogen_step_plan_seconds_total", "Host time for planning steps",
     seconds<&EngineStats::plan_ns>},
    {MetricKind::counter, "halogen_step_assemble_seconds_total",
     "Host time for assembling what steps compute", seconds<&EngineStats::assemble_ns>},
    {MetricKind::counter, "halogen_step_wait_seconds_total",
     "Time in which the engine waited for the device", seconds<&EngineStats::wait_ns>},
    {MetricKind::counter, "halogen_step_sample_seconds_total", "Host time for sampling",
     seconds<&EngineStats::sample_ns>},
    {MetricKind::counter, "halogen_step_text_seconds_total", "Host time for text and events",
     seconds<&EngineStats::text_ns>},
    {MetricKind::counter, "halogen_device_bytes_total",
     "Bytes of weights and KV that the device read", figure<&EngineStats::device_bytes>},
    {MetricKind::counter, "halogen_device_operations_total",
     "Operations of the device; a multiply-add is two", figure<&EngineStats::device_operations>},
    {MetricKind::counter, "halogen_device_seconds_total", "Time in which the device computed steps",
     seconds<&EngineStats::device_ns>},
    {MetricKind::gauge, "halogen_device_pending_weight_bytes",
     "Bytes of weights that the backend still brings into its own order while it serves",
     figure<&EngineStats::pending_weight_bytes>},
    {MetricKind::gauge, "halogen_device_bandwidth_bytes",
     "Bytes a second that the memory can give; 0 where that is not known",
     figure<&EngineStats::bandwidth>},
    {MetricKind::gauge, "halogen_engine_healthy", "1 unless the last step failed",
     [](const EngineStats& stats) { return stats.healthy ? 1.0 : 0.0; }},
};

}  // namespace

EngineMetrics::EngineMetrics(MetricRegistry& registry) : StatsMetrics(registry, kDefinitions) {}

}  // namespace halogen::api
