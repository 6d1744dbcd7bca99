#include "plugins/cpu/devices.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include <sched.h>

namespace halogen::cpu {
namespace {

// The text after "key" and its colon on the first such line of a /proc file; empty where there is
// none.
std::string proc_value(const char* path, const std::string& key) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(key)) continue;
    const size_t colon = line.find(':');
    const size_t begin = line.find_first_not_of(" \t", colon == std::string::npos ? 0 : colon + 1);
    if (colon != std::string::npos && begin != std::string::npos) return line.substr(begin);
  }
  return {};
}

uint64_t memory_bytes(const char* key) {
  return std::strtoull(proc_value("/proc/meminfo", key).c_str(), nullptr, 10) * 1024;
}

}  // namespace

void describe_cpu(halogen_device* device) {
  const std::string model = proc_value("/proc/cpuinfo", "model name");
  const std::string name = model.empty() ? "CPU" : model;
  device->kind = HALOGEN_DEVICE_CPU;
  device->name[name.copy(device->name, sizeof device->name - 1)] = '\0';
  device->pci[0] = '\0';
  device->memory_bytes = memory_bytes("MemTotal");
  device->memory_free_bytes = memory_bytes("MemAvailable");
  device->unified = true;
  device->bandwidth = 0.0;
}

unsigned usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

}  // namespace halogen::cpu
