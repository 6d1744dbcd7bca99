#include "core/base/process_memory.h"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include <sys/mman.h>
#include <sys/resource.h>

namespace halogen {
namespace {

std::atomic<uint64_t> counted_huge_bytes{0};

// The numbers, in KiB, of the lines that begin with "Name:" in a file like /proc/self/status.
class KernelTable {
 public:
  explicit KernelTable(const char* path) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) text_ += line + '\n';
  }

  uint64_t bytes(std::string_view name) const {
    const size_t line = text_.find("\n" + std::string(name) + ':');
    if (line == std::string::npos) return 0;
    const size_t begin = text_.find_first_of("0123456789", line + name.size() + 2);
    uint64_t kib = 0;
    if (begin != std::string::npos)
      std::from_chars(text_.data() + begin, text_.data() + text_.size(), kib);
    return kib * 1024;
  }

 private:
  std::string text_ = "\n";
};

// Reads in what is mapped of files: code, above all, which would otherwise be read when it first
// runs. Mappings that cannot be read are passed over.
void read_in_mapped_files() {
#ifdef MADV_POPULATE_READ
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(" r") == std::string::npos || line.find('/') == std::string::npos) continue;
    uintptr_t begin = 0;
    uintptr_t end = 0;
    const char* const last = line.data() + line.size();
    const auto first = std::from_chars(line.data(), last, begin, 16);
    std::from_chars(first.ptr + 1, last, end, 16);
    if (end > begin) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_READ);
  }
#endif
}

// Rounded up.
std::string mib(uint64_t bytes) {
  return std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB";
}

}  // namespace

ProcessMemory process_memory() {
  const KernelTable status("/proc/self/status");
  ProcessMemory memory;
  memory.resident_bytes = status.bytes("VmRSS");
  memory.locked_bytes = status.bytes("VmLck");
  memory.swapped_bytes = status.bytes("VmSwap");
  memory.address_bytes = status.bytes("VmSize");
  memory.huge_page_bytes = counted_huge_bytes;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  memory.major_faults = static_cast<uint64_t>(usage.ru_majflt);
  return memory;
}

uint64_t count_huge_pages() {
  const KernelTable mappings("/proc/self/smaps_rollup");
  counted_huge_bytes = mappings.bytes("AnonHugePages") + mappings.bytes("FilePmdMapped");
  return counted_huge_bytes;
}

uint64_t swap_in_use_bytes() {
  const KernelTable memory("/proc/meminfo");
  return memory.bytes("SwapTotal") - memory.bytes("SwapFree");
}

Status lock_memory() {
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_MEMLOCK, &limit);
  // A limit would make later allocations fail that have nothing to do with serving.
  const int later = limit.rlim_cur == RLIM_INFINITY ? MCL_FUTURE : 0;
  if (::mlockall(MCL_CURRENT | MCL_ONFAULT | later) == 0) {
    read_in_mapped_files();
    return {};
  }
  const int error = errno;
  if (limit.rlim_cur == RLIM_INFINITY) {
    return fail(HALOGEN_E_NO_MEMORY,
                std::string("memory cannot be locked: ") + std::strerror(error));
  }
  return fail(
      HALOGEN_E_NO_MEMORY,
      "memory cannot be locked: the limit on locked memory (RLIMIT_MEMLOCK, ulimit -l) is " +
          mib(limit.rlim_cur) + ", and " + mib(process_memory().address_bytes) +
          " are needed; set LimitMEMLOCK=infinity in the systemd unit, or memlock to "
          "unlimited in /etc/security/limits.conf");
}

}  // namespace halogen
