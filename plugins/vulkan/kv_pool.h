// The KV pool: for every attention layer the K and V of all blocks. A block of a layer stands in
// the canonical layout, on a border of 16 bytes, so that export and import are plain copies.
#pragma once

#include <vector>

#include "halogen/backend.h"

#include "plugins/common/check_step.h"
#include "plugins/vulkan/hazards.h"
#include "plugins/vulkan/transfers.h"

namespace halogen::vulkan {

class KvPool {
 public:
  // One layer's K or V.
  struct Part {
    uint32_t row_bytes = 0;    // of a head's position
    uint32_t block_bytes = 0;  // from block to block; a multiple of 16
    uint32_t used_bytes = 0;   // of a block
    Span span;

    Range range() const { return {span.address, span.address + span.bytes}; }
  };
  struct Layer {
    Part keys, values;
  };

  // [worker] Throws a Failure where memory is missing.
  KvPool(Device& device, Transfers& transfers, const halogen_graph& graph,
         const halogen_kv_geometry& geometry, uint32_t blocks);

  // Bytes of one block over all layers in the canonical layout.
  static uint64_t block_bytes(const halogen_graph& graph, const halogen_kv_geometry& geometry);

  backends::PoolSize size() const { return {blocks_, block_tokens_}; }
  uint64_t bytes_per_block() const { return bytes_per_block_; }
  const Layer& layer(uint32_t index) const { return layers_[index]; }

  // Where blocks are named they are inside the pool.
  void copy(const uint32_t* from, const uint32_t* to, uint32_t count);
  void export_block(uint32_t block, uint8_t* out) const;
  void import_block(uint32_t block, const uint8_t* in);

 private:
  Transfers& transfers_;
  uint32_t blocks_, block_tokens_;
  uint64_t bytes_per_block_;
  std::vector<Layer> layers_;
  MemoryPool memory_;
};

}  // namespace halogen::vulkan
