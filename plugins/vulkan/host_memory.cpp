#include "plugins/vulkan/host_memory.h"

#include <fstream>
#include <string>

namespace halogen::vulkan {

HostMemory host_memory() {
  HostMemory memory{UINT64_MAX, UINT64_MAX};
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  uint64_t kibibytes = 0;
  while (file >> key >> kibibytes) {
    if (key == "MemTotal:") memory.total = kibibytes * 1024;
    if (key == "MemAvailable:") memory.available = kibibytes * 1024;
    std::getline(file, unit);
  }
  return memory;
}

}  // namespace halogen::vulkan
