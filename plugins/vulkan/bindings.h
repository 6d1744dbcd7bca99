// Where everything is that a recording names.
#pragma once

#include "plugins/vulkan/kv_pool.h"
#include "plugins/vulkan/plan.h"
#include "plugins/vulkan/step_arrays.h"
#include "plugins/vulkan/weight_store.h"

namespace halogen::vulkan {

class Bindings {
 public:
  Bindings(const Plan& plan, const WeightStore& weights, const StepArrays& arrays, const KvPool& kv,
           const Span& arena, const Span& partials, const Span& tiles)
      : plan_(plan),
        weights_(weights),
        arrays_(arrays),
        kv_(kv),
        arena_(arena),
        partials_(partials),
        tiles_(tiles) {}

  const Plan& plan() const { return plan_; }
  const WeightStore& weights() const { return weights_; }
  const StepArrays& arrays() const { return arrays_; }
  const KvPool& kv() const { return kv_; }

  uint64_t address(Columns columns) const {
    return arena_.address + slot(columns).offset + sizeof(float) * columns.first;
  }
  uint32_t stride(Columns columns) const { return slot(columns).stride; }
  // All that a step of this shape may touch of the slot.
  Range range(Columns columns, const StepShape& shape) const {
    const uint64_t begin = arena_.address + slot(columns).offset;
    const uint64_t rows = shape.count(slot(columns).domain);
    return {begin, begin + rows * slot(columns).stride * sizeof(float)};
  }
  Span span(Columns columns, uint64_t rows) const {
    return arena_.part(slot(columns).offset + sizeof(float) * columns.first,
                       rows * slot(columns).stride * sizeof(float) - sizeof(float) * columns.first);
  }
  uint64_t count(Domain domain) const {
    return domain == Domain::tokens ? arrays_.n_tokens() : arrays_.n_rows();
  }
  uint64_t partials() const { return partials_.address; }
  Range partial_range() const { return range(partials_); }
  uint64_t tiles() const { return tiles_.address; }
  Range tile_range() const { return range(tiles_); }

 private:
  static Range range(const Span& span) { return {span.address, span.address + span.bytes}; }
  const Slot& slot(Columns columns) const { return plan_.slots[columns.slot]; }

  const Plan& plan_;
  const WeightStore& weights_;
  const StepArrays& arrays_;
  const KvPool& kv_;
  Span arena_, partials_, tiles_;
};

}  // namespace halogen::vulkan
