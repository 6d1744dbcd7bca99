// The second tier of the KV memory: host memory for blocks that the pool has no room for.
//
// The memory is the caller's and is there before anything is served; a slot holds one block in the
// canonical layout of halogen/backend.h.
#pragma once

#include <cstdint>

#include "core/engine/block_pool.h"
#include "core/engine/engine.h"

namespace halogen {

// Not thread-safe: the engine thread alone uses it.
class HostTier {
 public:
  HostTier(const EngineParts& parts, const EngineLimits& limits)
      : parts_(parts), block_bytes_(limits.block_bytes), slots_(limits.host_blocks) {}

  uint32_t total() const { return slots_.total(); }
  uint32_t used_count() const { return slots_.used_count(); }
  bool has_free() const { return slots_.free_count() > 0; }
  uint32_t take() { return slots_.take(); }
  void release(uint32_t slot) { slots_.release(slot); }

  // [device] False where the backend fails; then the block or slot has no content.
  bool store(uint32_t block, uint32_t slot);
  bool load(uint32_t slot, uint32_t block);

  uint64_t stored_count() const { return stored_; }
  uint64_t loaded_count() const { return loaded_; }

 private:
  uint8_t* memory_of(uint32_t slot) const { return parts_.host_memory + slot * block_bytes_; }

  const EngineParts& parts_;
  const uint64_t block_bytes_;
  BlockPool slots_;
  uint64_t stored_ = 0, loaded_ = 0;
};

}  // namespace halogen
