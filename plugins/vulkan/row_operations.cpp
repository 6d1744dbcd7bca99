#include "plugins/vulkan/row_operations.h"

#include "plugins/vulkan/bindings.h"

namespace halogen::vulkan {
namespace {

uint64_t vector_address(const Bindings& bindings, const std::optional<uint32_t>& weight) {
  return weight ? bindings.weights().vector(*weight) : 0;
}

}  // namespace

void EmbedOperation::record(Recorder& recorder, const Bindings& bindings,
                            const StepShape& shape) const {
  EmbedConstants constants{};
  constants.table = bindings.weights().matrix(table);
  constants.ids = bindings.arrays().token_ids();
  constants.count = bindings.count(Domain::tokens);
  constants.y = bindings.address(y);
  constants.row_bytes = row_bytes;
  constants.columns = columns;
  constants.y_stride = bindings.stride(y);
  constants.scale = scale;
  recorder.dispatch(pipeline, constants, embed_groups(specialization, columns, shape.tokens), {},
                    {bindings.range(y, shape)});
}

void NormOperation::record(Recorder& recorder, const Bindings& bindings,
                           const StepShape& shape) const {
  NormConstants constants{};
  constants.x = bindings.address(x);
  constants.weight = vector_address(bindings, weight);
  constants.bias = vector_address(bindings, bias);
  constants.count = bindings.count(domain);
  constants.y = bindings.address(y);
  constants.columns = constants.vector_stride = columns;
  constants.x_stride = bindings.stride(x);
  constants.y_stride = bindings.stride(y);
  constants.epsilon = epsilon;
  constants.weight_offset = weight_offset;
  recorder.dispatch(pipeline, constants, norm_groups(vectors, shape.count(domain)),
                    {bindings.range(x, shape)}, {bindings.range(y, shape)});
}

void RopeOperation::record(Recorder& recorder, const Bindings& bindings,
                           const StepShape& shape) const {
  const WeightStore::Angles angles = bindings.weights().angles(rotation);
  RopeConstants constants{};
  constants.x = bindings.address(x);
  constants.positions = bindings.arrays().positions();
  constants.fine_angles = angles.fine;
  constants.coarse_angles = angles.coarse;
  constants.count = bindings.count(Domain::tokens);
  constants.y = bindings.address(y);
  constants.pairs = pairs;
  constants.head_dim = constants.head_stride = head_dim;
  constants.x_stride = bindings.stride(x);
  constants.y_stride = bindings.stride(y);
  recorder.dispatch(pipeline, constants, rope_groups(heads, shape.tokens),
                    {bindings.range(x, shape)}, {bindings.range(y, shape)});
}

void ActivateOperation::record(Recorder& recorder, const Bindings& bindings,
                               const StepShape& shape) const {
  ActivateConstants constants{};
  constants.gate = bindings.address(gate);
  constants.up = up ? bindings.address(*up) : 0;
  constants.count = bindings.count(domain);
  constants.y = bindings.address(y);
  constants.columns = columns;
  constants.gate_stride = bindings.stride(gate);
  constants.up_stride = up ? bindings.stride(*up) : 0;
  constants.y_stride = bindings.stride(y);
  constants.alpha = alpha;
  constants.limit = limit;
  recorder.dispatch(pipeline, constants,
                    activate_groups(specialization, columns, shape.count(domain)),
                    {bindings.range(gate, shape), up ? bindings.range(*up, shape) : Range{}},
                    {bindings.range(y, shape)});
}

void ElementwiseOperation::record(Recorder& recorder, const Bindings& bindings,
                                  const StepShape& shape) const {
  ElementwiseConstants constants{};
  constants.a = bindings.address(a);
  constants.b = b ? bindings.address(*b) : vector_address(bindings, b_vector);
  constants.count = bindings.count(domain);
  constants.y = bindings.address(y);
  constants.columns = columns;
  constants.b_columns = b_columns;
  constants.a_stride = bindings.stride(a);
  constants.b_stride = b ? bindings.stride(*b) : 0;
  constants.y_stride = bindings.stride(y);
  constants.factor = factor;
  recorder.dispatch(pipeline, constants,
                    elementwise_groups(specialization, columns, shape.count(domain)),
                    {bindings.range(a, shape), b ? bindings.range(*b, shape) : Range{}},
                    {bindings.range(y, shape)});
}

void CopyOperation::record(Recorder& recorder, const Bindings& bindings,
                           const StepShape& shape) const {
  CopyConstants constants{};
  constants.x = bindings.address(x);
  constants.rows = select ? bindings.arrays().rows() : 0;
  constants.count = bindings.count(domain);
  constants.y = bindings.address(y);
  constants.columns = columns;
  constants.x_stride = bindings.stride(x);
  constants.y_stride = bindings.stride(y);
  constants.runs = 1;
  recorder.dispatch(pipeline, constants,
                    copy_groups(specialization, columns, 1, shape.count(domain)),
                    {bindings.range(x, shape)}, {bindings.range(y, shape)});
}

}  // namespace halogen::vulkan
