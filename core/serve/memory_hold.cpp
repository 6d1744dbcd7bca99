#include "core/serve/memory_hold.h"

#include <fstream>
#include <string>

#include <sys/prctl.h>

#include "core/base/log.h"
#include "core/base/process_memory.h"

namespace halogen {
namespace {

constexpr std::string_view kComponent = "memory";

// "always [madvise] never": the one in brackets holds. Ours are asked for, so "never" alone is no.
bool system_has_huge_pages() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string modes;
  return std::getline(file, modes) && modes.find("[never]") == std::string::npos;
}

std::string mib(uint64_t bytes) {
  return std::to_string(bytes >> 20) + " MiB";
}

}  // namespace

Status prepare_memory(const MemoryProfile& profile) {
  if (profile.huge_pages == HugePages::off) ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  if (profile.huge_pages == HugePages::required && !system_has_huge_pages()) {
    return fail(HALOGEN_E_UNSUPPORTED,
                "huge pages are off in this system; write madvise to "
                "/sys/kernel/mm/transparent_hugepage/enabled, or set memory.huge_pages = \"auto\"");
  }
  return {};
}

Status hold_memory(const MemoryProfile& profile) {
  if (profile.lock != MemoryLock::off) {
    if (Status locked = lock_memory(); !locked) {
      if (profile.lock == MemoryLock::required) return locked;
      log_info(kComponent, locked.error().message);
    }
  }
  const ProcessMemory memory = process_memory();
  log_info(kComponent, mib(memory.resident_bytes) + " resident, " + mib(memory.locked_bytes) +
                           " locked, " + mib(count_huge_pages()) + " on huge pages");
  if (const uint64_t swap = swap_in_use_bytes(); swap > 0) {
    log_warning(kComponent, "the system has " + mib(swap) + " in swap, " +
                                mib(memory.swapped_bytes) +
                                " of them this server's; what is swapped out is slow to come back");
  }
  return {};
}

}  // namespace halogen
