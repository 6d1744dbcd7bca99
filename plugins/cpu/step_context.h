// What the operations of a compiled program see while a step runs.
#pragma once

#include <atomic>
#include <cstdint>

#include "halogen/backend.h"

#include "plugins/common/graph_view.h"
#include "plugins/cpu/kernels/kernel_set.h"
#include "plugins/cpu/kv_pool.h"

namespace halogen::cpu {

using backends::Domain;

// A matrix of the step: one row for each token or wanted row.
struct Slot {
  enum class Place : uint8_t { arena, logits, hidden };
  Place place = Place::arena;
  Domain domain = Domain::tokens;
  uint64_t offset = 0;        // bytes into the arena
  uint64_t stride_bytes = 0;  // from row to row
};

// A slot from a column on; what operations read and write.
struct Columns {
  uint32_t slot = 0;
  uint32_t first = 0;  // in floats
};

struct alignas(64) Claim {
  std::atomic<uint32_t> next{0};
};

struct StepContext {
  halogen_step step{};
  const KernelSet* kernels = nullptr;
  const Slot* slots = nullptr;
  uint8_t* arena = nullptr;
  KvPool* kv = nullptr;
  uint32_t* token_sequences = nullptr;  // [n_tokens]: which sequence a token belongs to
  Claim* claims = nullptr;              // [operations]
  float* partials = nullptr;            // of attention that is split over the context
  unsigned members = 1;

  uint32_t count(Domain domain) const {
    return domain == Domain::tokens ? step.n_tokens : step.n_rows;
  }
  uint8_t* bytes(uint32_t slot_index, uint32_t row) const {
    const Slot& slot = slots[slot_index];
    switch (slot.place) {
      case Slot::Place::logits:
        return reinterpret_cast<uint8_t*>(step.logits) + row * slot.stride_bytes;
      case Slot::Place::hidden:
        return reinterpret_cast<uint8_t*>(step.hidden) + row * slot.stride_bytes;
      case Slot::Place::arena:
        break;
    }
    return arena + slot.offset + row * slot.stride_bytes;
  }
  float* floats(const Columns& columns, uint32_t row) const {
    return reinterpret_cast<float*>(bytes(columns.slot, row)) + columns.first;
  }
  // The next `wanted` units of operation `index` that nobody else has; the first of them.
  uint32_t claim(uint32_t index, uint32_t wanted) const {
    return claims[index].next.fetch_add(wanted, std::memory_order_relaxed);
  }
};

// One entry of a program. All members of the team call run for the same operation and share its
// work by claims; a barrier follows.
class Operation {
 public:
  virtual ~Operation() = default;
  virtual void run(const StepContext& context, uint32_t index, float* scratch) const = 0;
};

}  // namespace halogen::cpu
