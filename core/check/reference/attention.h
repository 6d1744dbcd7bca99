// Attention over the paged cache, position by position.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "halogen/backend.h"

#include "core/check/reference/precision.h"
#include "core/check/reference/tensor.h"

namespace halogen::reference {

// What the KV pool holds, by layer and slot: as real numbers, rounded to the pool's type.
class KvCache {
 public:
  explicit KvCache(const halogen_kv_geometry& geometry) : geometry_(geometry) {}

  struct Entry {
    Tensor key, value;  // [kv heads, dim]
  };
  const halogen_kv_geometry& geometry() const { return geometry_; }
  void store(uint32_t layer, uint32_t slot, Entry entry);
  // Null where nothing was stored.
  const Entry* find(uint32_t layer, uint32_t slot) const;

 private:
  halogen_kv_geometry geometry_;
  std::map<std::pair<uint32_t, uint32_t>, Entry> entries_;
};

// q [T, H, D], k [T, G, D], v [T, G, Dv], sinks null or [H]; stores k and v first. A position that
// was never stored counts as absent.
Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor* sinks,
              const halogen_attend_attributes& attributes, const halogen_step& step, KvCache& cache,
              Precision precision);

}  // namespace halogen::reference
