// Which dispatch has to wait for those before it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace halogen::vulkan {

// Addresses from begin to end - 1.
struct Range {
  uint64_t begin = 0, end = 0;
};

// Sees the dispatches of a command buffer in their order. Two that touch the same bytes, one of
// them writing, need a barrier between them; a barrier is one for all that came before.
class Hazards {
 public:
  // With `always`, every dispatch waits: to tell a wrong result from a missing barrier.
  explicit Hazards(bool always) : always_(always) {}

  // True when a barrier must stand before a dispatch with these accesses; it is then taken to stand
  // there. Either way the dispatch is noted.
  bool barrier_before(std::span<const Range> reads, std::span<const Range> writes);
  // A barrier stands here.
  void clear();

 private:
  bool always_;
  std::vector<Range> reads_, writes_;  // since the last barrier
};

}  // namespace halogen::vulkan
