#include "plugins/vulkan/attend_operation.h"

#include "plugins/vulkan/bindings.h"

namespace halogen::vulkan {

void KvStoreOperation::record(Recorder& recorder, const Bindings& bindings,
                              const StepShape& shape) const {
  const KvPool::Layer& layer = bindings.kv().layer(kv_layer);
  const KvPool::Part& part = side == Side::keys ? layer.keys : layer.values;
  KvStoreConstants constants{};
  constants.x = bindings.address(x);
  constants.kv_slots = bindings.arrays().kv_slots();
  constants.count = bindings.count(Domain::tokens);
  constants.pool = part.span.address;
  constants.heads = heads;
  constants.head_dim = constants.head_stride = head_dim;
  constants.x_stride = bindings.stride(x);
  constants.block_tokens = bindings.kv().size().block_tokens;
  constants.row_bytes = part.row_bytes;
  constants.block_bytes = part.block_bytes;
  recorder.dispatch(pipeline, constants,
                    kv_store_groups(specialization, heads, head_dim, shape.tokens),
                    {bindings.range(x, shape)}, {part.range()});
}

void AttendOperation::record(Recorder& recorder, const Bindings& bindings,
                             const StepShape& shape) const {
  const KvPool::Layer& layer = bindings.kv().layer(attributes.kv_layer);
  const SplitSizes& splits = bindings.plan().splits;
  AttendConstants constants{};
  constants.q = bindings.address(q);
  constants.keys = layer.keys.span.address;
  constants.values = layer.values.span.address;
  constants.sinks = sinks ? bindings.weights().vector(*sinks) : 0;
  constants.step = bindings.arrays().tables();
  constants.partials = bindings.partials();
  constants.y = bindings.address(y);
  constants.kv_heads = kv_heads;
  constants.group = group;
  constants.q_stride = bindings.stride(q);
  constants.q_head_stride = decode_specialization.key_dim;
  constants.y_stride = bindings.stride(y);
  constants.key_block_bytes = layer.keys.block_bytes;
  constants.value_block_bytes = layer.values.block_bytes;
  constants.max_splits = splits.most;
  constants.causal = attributes.causal;
  constants.window = attributes.window;
  constants.chunk = attributes.chunk;
  constants.scale = attributes.scale;
  constants.softcap = attributes.softcap;

  const Range queries = bindings.range(q, shape), results = bindings.range(y, shape);
  const Range keys = layer.keys.range(), values = layer.values.range();
  const uint32_t heads = kv_heads * group;
  const uint64_t operations = uint64_t{2} * heads *
                              (decode_specialization.key_dim + decode_specialization.value_dim) *
                              shape.tokens * shape.splits * splits.positions;
  if (shape.tiles > 0) {
    recorder.dispatch(prefill, constants,
                      attend_prefill_groups(prefill_specialization, kv_heads, group, shape.tiles),
                      {queries, keys, values}, {results}, operations);
    return;
  }
  recorder.dispatch(
      decode, constants,
      attend_decode_groups(decode_specialization, kv_heads, group, shape.tokens, shape.splits),
      {queries, keys, values}, {bindings.partial_range()}, operations);
  recorder.dispatch(merge, constants, attend_merge_groups(heads, shape.tokens),
                    {bindings.partial_range()}, {results});
}

}  // namespace halogen::vulkan
