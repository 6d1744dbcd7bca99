#include "core/api/memory_metrics.h"

namespace halogen::api {
namespace {

constexpr MemoryMetrics::Definition kDefinitions[] = {
    {MetricKind::gauge, "halogen_memory_resident_bytes", "Memory in place",
     figure<&ProcessMemory::resident_bytes>},
    {MetricKind::gauge, "halogen_memory_locked_bytes", "Memory that is never swapped out",
     figure<&ProcessMemory::locked_bytes>},
    {MetricKind::gauge, "halogen_memory_swapped_bytes", "Memory of the server that is in swap",
     figure<&ProcessMemory::swapped_bytes>},
    {MetricKind::gauge, "halogen_memory_huge_page_bytes",
     "Memory on huge pages when the model was loaded", figure<&ProcessMemory::huge_page_bytes>},
    {MetricKind::counter, "halogen_major_faults_total", "Accesses that waited for the disk",
     figure<&ProcessMemory::major_faults>},
};

}  // namespace

MemoryMetrics::MemoryMetrics(MetricRegistry& registry) : StatsMetrics(registry, kDefinitions) {}

}  // namespace halogen::api
