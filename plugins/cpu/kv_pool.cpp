#include "plugins/cpu/kv_pool.h"

#include <cstring>

#include "plugins/cpu/kernels/key_groups.h"

namespace halogen::cpu {
namespace {

KvGeometry layer_geometry(const halogen_kv_layer& layer, const halogen_kv_geometry& geometry) {
  KvGeometry kv{};
  kv.key_type = geometry.key_type;
  kv.value_type = geometry.value_type;
  kv.block_tokens = geometry.block_tokens;
  kv.kv_heads = layer.kv_heads;
  kv.key_dim = layer.key_dim;
  kv.value_dim = layer.value_dim;
  kv.key_row_bytes = halogen_row_bytes(geometry.key_type, layer.key_dim);
  kv.value_row_bytes = halogen_row_bytes(geometry.value_type, layer.value_dim);
  const size_t rows = size_t{layer.kv_heads} * geometry.block_tokens;
  kv.key_block_bytes = rows * kv.key_row_bytes;
  kv.value_block_bytes = rows * kv.value_row_bytes;
  return kv;
}

// Calls visit(keys of a head, slot, its row in the canonical layout) for every K of a block.
template <class Byte, class Visit>
void for_each_key(const KvGeometry& kv, uint32_t block, Byte* canonical, Visit visit) {
  uint8_t* keys = kv.keys + block * kv.key_block_bytes;
  for (uint32_t head = 0; head < kv.kv_heads; head++) {
    for (uint32_t slot = 0; slot < kv.block_tokens; slot++) {
      visit(keys, slot, canonical);
      canonical += kv.key_row_bytes;
    }
    keys += kv.block_tokens * kv.key_row_bytes;
  }
}

}  // namespace

KvPool::KvPool(const halogen_graph& graph, const halogen_kv_geometry& geometry, uint32_t blocks,
               ThreadTeam* team)
    : memory_(block_bytes(graph, geometry) * blocks, team),
      bytes_per_block_(block_bytes(graph, geometry)),
      blocks_(blocks),
      block_tokens_(geometry.block_tokens) {
  uint8_t* next = memory_.data();
  for (uint32_t i = 0; i < graph.n_kv_layers; i++) {
    KvGeometry kv = layer_geometry(*graph.kv_layers[i], geometry);
    if (next) {
      kv.keys = next;
      kv.values = next + kv.key_block_bytes * blocks;
      next = kv.values + kv.value_block_bytes * blocks;
    }
    layers_.push_back(kv);
  }
}

uint64_t KvPool::block_bytes(const halogen_graph& graph, const halogen_kv_geometry& geometry) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < graph.n_kv_layers; i++) {
    const KvGeometry kv = layer_geometry(*graph.kv_layers[i], geometry);
    bytes += kv.key_block_bytes + kv.value_block_bytes;
  }
  return bytes;
}

void KvPool::copy(uint32_t from, uint32_t to) {
  for (const KvGeometry& kv : layers_) {
    std::memmove(kv.keys + to * kv.key_block_bytes, kv.keys + from * kv.key_block_bytes,
                 kv.key_block_bytes);
    std::memmove(kv.values + to * kv.value_block_bytes, kv.values + from * kv.value_block_bytes,
                 kv.value_block_bytes);
  }
}

void KvPool::export_block(uint32_t block, uint8_t* out) const {
  for (const KvGeometry& kv : layers_) {
    const KeyRows rows = {kv.key_type, kv.key_row_bytes, kv.block_tokens};
    for_each_key(kv, block, out, [&](const uint8_t* keys, uint32_t slot, uint8_t* row) {
      read_key(rows, keys, slot, row);
    });
    out += kv.key_block_bytes;
    std::memcpy(out, kv.values + block * kv.value_block_bytes, kv.value_block_bytes);
    out += kv.value_block_bytes;
  }
}

void KvPool::import_block(uint32_t block, const uint8_t* in) {
  for (const KvGeometry& kv : layers_) {
    const KeyRows rows = {kv.key_type, kv.key_row_bytes, kv.block_tokens};
    for_each_key(kv, block, in, [&](uint8_t* keys, uint32_t slot, const uint8_t* row) {
      write_key(rows, keys, slot, 0, kv.key_row_bytes, row);
    });
    in += kv.key_block_bytes;
    std::memcpy(kv.values + block * kv.value_block_bytes, in, kv.value_block_bytes);
    in += kv.value_block_bytes;
  }
}

}  // namespace halogen::cpu
