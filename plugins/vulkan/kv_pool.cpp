#include "plugins/vulkan/kv_pool.h"

namespace halogen::vulkan {
namespace {

KvPool::Part part_of(const halogen_kv_layer& layer, const halogen_kv_geometry& geometry,
                     halogen_type type, uint32_t dim) {
  KvPool::Part part;
  part.row_bytes = static_cast<uint32_t>(halogen_row_bytes(type, dim));
  part.used_bytes = layer.kv_heads * geometry.block_tokens * part.row_bytes;
  part.block_bytes = (part.used_bytes + 15) / 16 * 16;
  return part;
}

std::vector<KvPool::Layer> layers_of(const halogen_graph& graph,
                                     const halogen_kv_geometry& geometry) {
  std::vector<KvPool::Layer> layers;
  for (uint32_t i = 0; i < graph.n_kv_layers; i++) {
    const halogen_kv_layer& layer = *graph.kv_layers[i];
    layers.push_back({part_of(layer, geometry, geometry.key_type, layer.key_dim),
                      part_of(layer, geometry, geometry.value_type, layer.value_dim)});
  }
  return layers;
}

uint64_t pool_bytes(const std::vector<KvPool::Layer>& layers, uint64_t blocks) {
  uint64_t bytes = 0;
  for (const KvPool::Layer& layer : layers) {
    bytes += MemoryPool::aligned(blocks * layer.keys.block_bytes) +
             MemoryPool::aligned(blocks * layer.values.block_bytes);
  }
  return bytes;
}

Span block_of(const KvPool::Part& part, uint32_t block) {
  return part.span.part(uint64_t{block} * part.block_bytes, part.used_bytes);
}

}  // namespace

KvPool::KvPool(Device& device, Transfers& transfers, const halogen_graph& graph,
               const halogen_kv_geometry& geometry, uint32_t blocks)
    : transfers_(transfers),
      blocks_(blocks),
      block_tokens_(geometry.block_tokens),
      bytes_per_block_(block_bytes(graph, geometry)),
      layers_(layers_of(graph, geometry)),
      memory_(device, MemoryUse::device, pool_bytes(layers_, blocks)) {
  for (Layer& layer : layers_) {
    for (Part* part : {&layer.keys, &layer.values})
      part->span = memory_.take(uint64_t{blocks} * part->block_bytes);
  }
}

uint64_t KvPool::block_bytes(const halogen_graph& graph, const halogen_kv_geometry& geometry) {
  uint64_t bytes = 0;
  for (const Layer& layer : layers_of(graph, geometry))
    bytes += uint64_t{layer.keys.used_bytes} + layer.values.used_bytes;
  return bytes;
}

void KvPool::copy(const uint32_t* from, const uint32_t* to, uint32_t count) {
  std::vector<Transfers::Copy> copies;
  for (const Layer& layer : layers_) {
    for (uint32_t i = 0; i < count; i++) {
      if (from[i] == to[i]) continue;
      for (const Part* part : {&layer.keys, &layer.values})
        copies.push_back({block_of(*part, from[i]), block_of(*part, to[i])});
    }
  }
  transfers_.copy(copies);
}

void KvPool::export_block(uint32_t block, uint8_t* out) const {
  for (const Layer& layer : layers_) {
    for (const Part* part : {&layer.keys, &layer.values}) {
      transfers_.download(block_of(*part, block), out);
      out += part->used_bytes;
    }
  }
}

void KvPool::import_block(uint32_t block, const uint8_t* in) {
  for (const Layer& layer : layers_) {
    for (const Part* part : {&layer.keys, &layer.values}) {
      transfers_.upload(in, block_of(*part, block));
      in += part->used_bytes;
    }
  }
}

}  // namespace halogen::vulkan
