#include "plugins/cpu/shared_operations.h"

#include <algorithm>

namespace halogen::cpu {
namespace {

// Weight rows that a thread takes at a time: few enough that all threads end together, enough that
// the claim costs nothing.
constexpr uint32_t kSmallestBatch = 16;  // whole panels of every instruction set
constexpr uint32_t kLargestBatch = 256;
constexpr uint32_t kBatchesPerMember = 8;

uint32_t whole_panels(uint32_t rows) {
  return (rows + kSmallestBatch - 1) / kSmallestBatch * kSmallestBatch;
}

}  // namespace

void LinearOperation::append(const Part& part) {
  parts_.push_back(part);
  total_rows_ += whole_panels(part.rows);
}

void LinearOperation::run(const StepContext& context, uint32_t index, float* /*scratch*/) const {
  const uint32_t share = total_rows_ / (context.members * kBatchesPerMember);
  const uint32_t batch =
      std::clamp(share / kSmallestBatch * kSmallestBatch, kSmallestBatch, kLargestBatch);
  for (uint32_t first = context.claim(index, batch); first < total_rows_;
       first = context.claim(index, batch)) {
    const uint32_t end = std::min(total_rows_, first + batch);
    uint32_t part_first = 0;
    for (const Part& part : parts_) {
      const uint32_t from = std::max(first, part_first);
      const uint32_t to = std::min(end, part_first + part.rows);
      if (from < to) run_part(context, part, from - part_first, to - part_first);
      part_first += whole_panels(part.rows);
    }
  }
}

void LinearOperation::run_part(const StepContext& context, const Part& part, uint32_t begin,
                               uint32_t end) const {
  const uint32_t rows = context.count(domain_);
  if (rows == 0) return;
  LinearCall call{};
  part.weights->give_to(call);
  call.row_begin = begin;
  call.row_end = end;
  call.activations = context.floats(part.input, 0);
  call.activation_stride_bytes = context.slots[part.input.slot].stride_bytes;
  call.n_tokens = rows;
  call.y = context.floats(part.output, 0);
  call.y_stride = context.slots[part.output.slot].stride_bytes / sizeof(float);
  part.kernel(call);

  for (uint32_t row = 0; row < rows && (part.bias || part.has_residual); row++) {
    float* y = context.floats(part.output, row) + begin;
    if (part.bias) context.kernels->add(y, part.bias + begin, end - begin, y);
    if (part.has_residual) {
      context.kernels->add(y, context.floats(part.residual, row) + begin, end - begin, y);
    }
  }
}

}  // namespace halogen::cpu
