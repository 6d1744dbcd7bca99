// The host's memory, of which a device without its own takes its share.
#pragma once

#include <cstdint>

namespace halogen::vulkan {

struct HostMemory {
  uint64_t total, available;  // bytes; UINT64_MAX where the system does not say
};

// [any] As /proc/meminfo has it now.
HostMemory host_memory();

}  // namespace halogen::vulkan
