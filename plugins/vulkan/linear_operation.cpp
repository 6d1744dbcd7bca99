#include "plugins/vulkan/linear_operation.h"

#include <algorithm>

#include "plugins/vulkan/bindings.h"

namespace halogen::vulkan {

void LinearOperation::record(Recorder& recorder, const Bindings& bindings,
                             const StepShape& shape) const {
  LinearConstants constants{};
  constants.weights = bindings.weights().matrix(weight);
  constants.x = bindings.address(x);
  constants.bias = bias ? bindings.weights().vector(*bias) : 0;
  constants.residual = residual ? bindings.address(*residual) : 0;
  constants.count = bindings.count(domain);
  constants.y = bindings.address(y);
  constants.row_bytes = row_bytes;
  constants.rows = rows;
  constants.columns = columns;
  constants.x_stride = bindings.stride(x);
  constants.residual_stride = residual ? bindings.stride(*residual) : 0;
  constants.y_stride = bindings.stride(y);

  const uint32_t tokens = shape.count(domain);
  const auto matvec = std::find_if(matvecs.begin(), matvecs.end(), [&](const Matvec& one) {
    return one.specialization.tokens >= tokens;
  });
  const bool few = matvec != matvecs.end();
  recorder.dispatch(
      few ? matvec->pipeline : matmul, constants,
      few ? matvec_groups(matvec->specialization, rows, tokens) : matmul_groups(rows, tokens),
      {bindings.range(x, shape), residual ? bindings.range(*residual, shape) : Range{}},
      {bindings.range(y, shape)}, uint64_t{2} * rows * columns * tokens);
}

}  // namespace halogen::vulkan
