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

namespace {

// Processors' worth of time that the control groups of this process allow (version 2); 0 for no
// limit.
unsigned control_group_processors() {
  unsigned least = 0;
  for (std::string path = proc_value("/proc/self/cgroup", "0:"); !path.empty();
       path.resize(path.rfind('/'))) {
    if (path.front() == ':') path.erase(0, 1);
    std::ifstream file("/sys/fs/cgroup" + path + "/cpu.max");
    uint64_t quota = 0, period = 0;  // microseconds; "max" for the first is no number
    if (file >> quota >> period && period > 0) {
      const auto processors = static_cast<unsigned>((quota + period - 1) / period);
      if (least == 0 || processors < least) least = processors;
    }
    if (path.find('/') == std::string::npos) break;
  }
  return least;
}

}  // namespace

unsigned usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  const auto allowed = static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
  const unsigned limit = control_group_processors();
  return limit == 0 ? allowed : std::clamp(limit, 1U, allowed);
}

}  // namespace halogen::cpu
