// The order of tokens by logit, and the best k of many without sorting them all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "row_math.h"

namespace sampler {

struct Ranked {
  float logit;
  int32_t token;
};

// Larger logits first; on a tie the lower id. A total order, so that every selection is unique.
inline bool before(const Ranked& a, const Ranked& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

// The best `k` (at least 1) of usable logits, best first, each with its place as its token. Keeps
// them in a heap whose front is the worst: once it is full, most of a vocabulary costs a look.
// `storage` has capacity for k and is overwritten.
inline std::span<const Ranked> best_of(std::span<const float> logits, size_t k, const RowMath& math,
                                       std::vector<Ranked>& storage) {
  storage.clear();
  const size_t first = std::min(k, logits.size());
  for (size_t i = 0; i < first; i++) storage.push_back({logits[i], static_cast<int32_t>(i)});
  std::make_heap(storage.begin(), storage.end(), before);
  for (size_t i = first;; i++) {
    // A later token with the same logit as the worst would not be before it.
    i = math.find_above(logits.data(), i, logits.size(), storage.front().logit);
    if (i >= logits.size()) break;
    std::pop_heap(storage.begin(), storage.end(), before);
    storage.back() = {logits[i], static_cast<int32_t>(i)};
    std::push_heap(storage.begin(), storage.end(), before);
  }
  std::sort_heap(storage.begin(), storage.end(), before);
  return storage;
}

}  // namespace sampler
