#include "core/serve/memory_plan.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include <unistd.h>

namespace halogen {
namespace {

// For people: "512 B", "9.2 MiB", "61.4 GiB".
std::string readable(uint64_t bytes) {
  static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto amount = static_cast<double>(bytes);
  size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < std::size(units); unit++) amount /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", amount, units[unit]);
  return text;
}

// The least memory.max of this process' control group and those above it (control groups v2).
uint64_t control_group_limit() {
  uint64_t least = std::numeric_limits<uint64_t>::max();
  std::ifstream membership("/proc/self/cgroup");
  std::string line;
  while (std::getline(membership, line)) {
    if (!line.starts_with("0::")) continue;
    for (std::string path = line.substr(3);; path.resize(path.rfind('/'))) {
      std::ifstream file("/sys/fs/cgroup" + path + "/memory.max");
      uint64_t limit = 0;
      if (file >> limit) least = std::min(least, limit);  // "max" is no number
      if (path.find('/') == std::string::npos) break;
    }
  }
  return least;
}

// What the pool shares the memory with, in bytes and in words.
uint64_t bytes_beside(const MemoryInputs& in) {
  return in.weight_bytes + in.program_bytes + in.host_pool_bytes;
}
std::string words_beside(const MemoryInputs& in) {
  const std::string tier =
      in.host_pool_bytes > 0 ? ", " + readable(in.host_pool_bytes) + " of second tier" : "";
  return "beside " + readable(in.weight_bytes) + " of weights" + tier + " and " +
         readable(in.program_bytes) + " of working memory, of " + readable(in.machine_bytes) +
         " in all";
}

}  // namespace

uint64_t usable_memory_bytes() {
  const auto pages = static_cast<uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES)));
  const auto page_bytes = static_cast<uint64_t>(std::max(0L, ::sysconf(_SC_PAGE_SIZE)));
  return std::min(pages * page_bytes, control_group_limit());
}

Result<uint32_t> plan_kv_blocks(const MemoryInputs& in) {
  const uint64_t blocks_per_sequence =
      (uint64_t{in.context} + in.block_tokens - 1) / in.block_tokens;
  const uint64_t useful = blocks_per_sequence * in.max_sequences;
  if (in.block_bytes == 0) return static_cast<uint32_t>(std::min<uint64_t>(useful, UINT32_MAX));

  const uint64_t others = bytes_beside(in);
  const bool share = in.pool_size.is_share();
  const uint64_t wanted = in.pool_size.of(in.machine_bytes);
  const uint64_t pool_bytes = share ? (wanted > others ? wanted - others : 0) : wanted;
  const uint64_t left = in.machine_bytes > others ? in.machine_bytes - others : 0;
  const std::string beside = words_beside(in);
  if (!share && pool_bytes > left) {
    return fail(HALOGEN_E_NO_MEMORY, "a KV pool of " + readable(pool_bytes) +
                                         " does not fit: " + readable(left) + " are left " +
                                         beside + "; set a smaller kv.pool_size");
  }
  const uint64_t affordable = pool_bytes / in.block_bytes;
  if (affordable < blocks_per_sequence) {
    return fail(HALOGEN_E_NO_MEMORY,
                "a context of " + std::to_string(in.context) + " tokens needs " +
                    readable(blocks_per_sequence * in.block_bytes) +
                    " of KV pool, but the pool can have " + readable(pool_bytes) + " " + beside +
                    ", which holds " + std::to_string(affordable * in.block_tokens) +
                    " tokens; set a smaller engine.context (--context) or a larger kv.pool_size");
  }
  // A slot of the pool is named by 32 bits.
  const uint64_t nameable = UINT32_MAX / in.block_tokens;
  return static_cast<uint32_t>(std::min({affordable, useful, nameable}));
}

Result<uint32_t> plan_host_blocks(const MemoryInputs& in) {
  if (in.host_pool_bytes == 0 || in.block_bytes == 0) return 0U;
  if (in.host_pool_bytes < in.block_bytes) {
    return fail(HALOGEN_E_NO_MEMORY, "a second KV tier of " + readable(in.host_pool_bytes) +
                                         " holds no block, which takes " +
                                         readable(in.block_bytes) +
                                         "; set kv.host_pool_size to more, or to 0");
  }
  MemoryInputs others = in;
  others.host_pool_bytes = 0;
  const uint64_t taken = bytes_beside(others);
  const uint64_t left = in.machine_bytes > taken ? in.machine_bytes - taken : 0;
  if (in.host_pool_bytes > left) {
    return fail(HALOGEN_E_NO_MEMORY, "a second KV tier of " + readable(in.host_pool_bytes) +
                                         " does not fit: " + readable(left) + " are left " +
                                         words_beside(others) +
                                         "; set a smaller kv.host_pool_size");
  }
  const uint64_t nameable = UINT32_MAX / in.block_tokens;
  return static_cast<uint32_t>(std::min(in.host_pool_bytes / in.block_bytes, nameable));
}

}  // namespace halogen
