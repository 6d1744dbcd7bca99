// The order of tokens by logit, and the best k of many without sorting them all.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace sampler {

struct Ranked {
  float logit;
  int32_t token;
};

// Larger logits first; on a tie the lower id. A total order, so that every selection is unique.
inline bool before(const Ranked& a, const Ranked& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

// A logit as it is used: what is not a number counts as impossible, and an infinite one as the
// largest finite, so that differences stay defined.
inline float usable(float logit) {
  if (std::isnan(logit)) return -std::numeric_limits<float>::infinity();
  return std::min(logit, std::numeric_limits<float>::max());
}

// Keeps the best `k` (at least 1) of what is offered, in a heap whose front is the worst of them:
// once it is full, most of a vocabulary costs one comparison each.
class BestOf {
 public:
  // `storage` has capacity for k and is overwritten.
  BestOf(std::vector<Ranked>& storage, size_t k) : heap_(storage), k_(k) { heap_.clear(); }

  void offer(Ranked ranked) {
    if (heap_.size() < k_) {
      heap_.push_back(ranked);
      std::push_heap(heap_.begin(), heap_.end(), before);
    } else if (before(ranked, heap_.front())) {
      std::pop_heap(heap_.begin(), heap_.end(), before);
      heap_.back() = ranked;
      std::push_heap(heap_.begin(), heap_.end(), before);
    }
  }

  const Ranked& worst() const { return heap_.front(); }
  // Best first; nothing can be offered afterwards.
  std::span<const Ranked> sorted() {
    std::sort_heap(heap_.begin(), heap_.end(), before);
    return heap_;
  }

 private:
  std::vector<Ranked>& heap_;
  const size_t k_;
};

}  // namespace sampler
