#include "plugins/vulkan/expert_operations.h"

#include "plugins/vulkan/bindings.h"

namespace halogen::vulkan {

void RouteOperation::record(Recorder& recorder, const Bindings& bindings,
                            const StepShape& shape) const {
  RouteConstants constants{};
  constants.logits = bindings.address(logits);
  constants.correction = correction ? bindings.weights().vector(*correction) : 0;
  constants.count = bindings.count(Domain::tokens);
  constants.ids = bindings.address(ids);
  constants.weights = bindings.address(weights);
  constants.experts = attributes.experts;
  constants.used = attributes.used;
  constants.scoring = attributes.scoring;
  constants.renormalise = attributes.renormalise;
  constants.logits_stride = bindings.stride(logits);
  constants.choice_stride = bindings.stride(ids);
  constants.scale = attributes.scale;
  recorder.dispatch(pipeline, constants, route_groups(shape.tokens),
                    {bindings.range(logits, shape)},
                    {bindings.range(ids, shape), bindings.range(weights, shape)});
}

void GroupOperation::record(Recorder& recorder, const Bindings& bindings,
                            const StepShape& shape) const {
  if (shape.tokens <= kExpertMatvecTokens) return;
  GroupConstants constants{};
  constants.ids = bindings.address(ids);
  constants.count = bindings.count(Domain::tokens);
  constants.tiles = bindings.tiles();
  constants.experts = experts;
  constants.used = used;
  constants.choice_stride = bindings.stride(ids);
  constants.max_tiles = max_expert_tiles(experts, shape.tokens * used);
  recorder.dispatch(pipeline, constants, kGroupGroups, {bindings.range(ids, shape)},
                    {bindings.tile_range()});
}

void ExpertLinearOperation::record(Recorder& recorder, const Bindings& bindings,
                                   const StepShape& shape) const {
  ExpertLinearConstants constants{};
  constants.weights = bindings.weights().matrix(weight);
  constants.x = bindings.address(x);
  constants.bias = bias ? bindings.weights().vector(*bias) : 0;
  constants.ids = bindings.address(ids);
  constants.tiles = bindings.tiles();
  constants.count = bindings.count(Domain::tokens);
  constants.y = bindings.address(y);
  constants.expert_bytes = uint64_t{rows} * row_bytes;
  constants.row_bytes = row_bytes;
  constants.rows = rows;
  constants.columns = columns;
  constants.used = used;
  constants.choice_stride = bindings.stride(ids);
  constants.x_stride = bindings.stride(x);
  constants.x_choice_stride = own_inputs ? columns : 0;
  constants.y_stride = bindings.stride(y);
  constants.y_choice_stride = rows;
  const bool few = shape.tokens <= kExpertMatvecTokens;
  recorder.dispatch(few ? matvec : matmul, constants,
                    few ? expert_matvec_groups(specialization, rows, used, shape.tokens)
                        : expert_matmul_groups(rows, experts, shape.tokens * used),
                    {bindings.range(x, shape), bindings.range(ids, shape), bindings.tile_range()},
                    {bindings.range(y, shape)}, uint64_t{2} * rows * columns * shape.tokens * used);
}

void CombineOperation::record(Recorder& recorder, const Bindings& bindings,
                              const StepShape& shape) const {
  CombineConstants constants{};
  constants.x = bindings.address(x);
  constants.weights = bindings.address(weights);
  constants.count = bindings.count(Domain::tokens);
  constants.y = bindings.address(y);
  constants.columns = columns;
  constants.used = used;
  constants.choice_stride = bindings.stride(weights);
  constants.x_stride = bindings.stride(x);
  constants.x_choice_stride = columns;
  constants.y_stride = bindings.stride(y);
  recorder.dispatch(pipeline, constants, combine_groups(specialization, columns, shape.tokens),
                    {bindings.range(x, shape), bindings.range(weights, shape)},
                    {bindings.range(y, shape)});
}

}  // namespace halogen::vulkan
