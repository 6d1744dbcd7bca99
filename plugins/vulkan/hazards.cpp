#include "plugins/vulkan/hazards.h"

#include <algorithm>

namespace halogen::vulkan {
namespace {

bool meet(std::span<const Range> some, std::span<const Range> others) {
  return std::any_of(some.begin(), some.end(), [&](const Range& a) {
    return std::any_of(others.begin(), others.end(),
                       [&](const Range& b) { return a.begin < b.end && b.begin < a.end; });
  });
}

}  // namespace

bool Hazards::barrier_before(std::span<const Range> reads, std::span<const Range> writes) {
  const bool first = reads_.empty() && writes_.empty();
  const bool needed =
      !first && (always_ || meet(reads, writes_) || meet(writes, writes_) || meet(writes, reads_));
  if (needed) clear();
  reads_.insert(reads_.end(), reads.begin(), reads.end());
  writes_.insert(writes_.end(), writes.begin(), writes.end());
  return needed;
}

void Hazards::clear() {
  reads_.clear();
  writes_.clear();
}

}  // namespace halogen::vulkan
