#include "core/api/http_metrics.h"

namespace halogen::api {
namespace {

using Stats = http::ServerStats;

constexpr HttpMetrics::Definition kDefinitions[] = {
    {MetricKind::gauge, "halogen_http_connections", "Connections that are open",
     figure<&Stats::connections>},
    {MetricKind::gauge, "halogen_http_requests_in_flight", "Requests whose response has not ended",
     figure<&Stats::requests_in_flight>},
    {MetricKind::gauge, "halogen_http_body_bytes",
     "Bytes of the bodies of requests that are arriving or in flight", figure<&Stats::body_bytes>},
    {MetricKind::counter, "halogen_http_connections_accepted_total", "Connections accepted",
     figure<&Stats::accepted>},
    {MetricKind::counter, "halogen_http_connections_refused_total",
     "Connections refused because there were too many", figure<&Stats::refused_connections>},
    {MetricKind::counter, "halogen_http_connections_evicted_total",
     "Idle connections closed to make room for new ones", figure<&Stats::evictions>},
    {MetricKind::counter, "halogen_http_requests_total", "Requests that the API has answered",
     figure<&Stats::requests>},
    {MetricKind::counter, "halogen_http_requests_refused_total",
     "Requests refused for their form, their size, or what their head asks for",
     figure<&Stats::refused_requests>},
    {MetricKind::counter, "halogen_http_timeouts_total",
     "Connections closed for being idle or for sending too slowly", figure<&Stats::timeouts>},
    {MetricKind::counter, "halogen_http_slow_readers_total",
     "Connections closed for not reading what they were sent", figure<&Stats::slow_readers>},
    {MetricKind::counter, "halogen_http_disconnects_total",
     "Clients that left before their response had ended", figure<&Stats::disconnects>},
    {MetricKind::counter, "halogen_http_handler_errors_total",
     "Requests that failed for a fault of the server", figure<&Stats::handler_errors>},
    {MetricKind::counter, "halogen_http_out_of_memory_total",
     "Connections given up for want of memory", figure<&Stats::out_of_memory>},
};

}  // namespace

HttpMetrics::HttpMetrics(MetricRegistry& registry) : StatsMetrics(registry, kDefinitions) {}

}  // namespace halogen::api
