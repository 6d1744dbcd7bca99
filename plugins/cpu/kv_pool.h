// The KV pool: for every attention layer the K and V of all blocks. V lies as in the canonical
// layout and K in the order of key_groups.h, from which export and import translate.
#pragma once

#include <cstdint>
#include <vector>

#include "halogen/backend.h"

#include "plugins/cpu/kernels/kernel_set.h"
#include "plugins/cpu/memory.h"

namespace halogen::cpu {

class KvPool {
 public:
  // An idle team touches the pool's memory together.
  KvPool(const halogen_graph& graph, const halogen_kv_geometry& geometry, uint32_t blocks,
         ThreadTeam* team = nullptr);

  // Bytes of one block over all layers.
  static uint64_t block_bytes(const halogen_graph& graph, const halogen_kv_geometry& geometry);

  bool allocated() const { return layers_.empty() || memory_.data() != nullptr; }
  uint32_t blocks() const { return blocks_; }
  uint64_t bytes_per_block() const { return bytes_per_block_; }
  uint32_t block_tokens() const { return block_tokens_; }
  const KvGeometry& layer(uint32_t index) const { return layers_[index]; }

  void copy(uint32_t from, uint32_t to);
  void export_block(uint32_t block, uint8_t* out) const;
  void import_block(uint32_t block, const uint8_t* in);

 private:
  std::vector<KvGeometry> layers_;
  Memory memory_;
  uint64_t bytes_per_block_;
  uint32_t blocks_;
  uint32_t block_tokens_;
};

}  // namespace halogen::cpu
