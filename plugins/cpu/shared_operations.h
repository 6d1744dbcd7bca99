// Products with weights, whose rows are spread over the threads.
#pragma once

#include <vector>

#include "plugins/cpu/step_context.h"
#include "plugins/cpu/weight_copies.h"

namespace halogen::cpu {

// Several products of the same input, as one operation: their output rows are one common pool of
// work.
class LinearOperation final : public Operation {
 public:
  struct Part {
    LinearKernel* kernel;
    const WeightMatrix* weights;  // [outputs, k]; null where only memory is planned
    uint32_t rows;                // outputs
    Columns input;                // floats, or a slot of quantised activations (first = 0)
    Columns output;
    const float* bias;  // [rows], or null
    bool has_residual;  // adds `residual` to the output
    Columns residual;
  };

  LinearOperation(Domain domain, uint32_t k) : domain_(domain), k_(k) {}
  void append(const Part& part);
  uint32_t k() const { return k_; }
  void run(const StepContext& context, uint32_t index, float* scratch) const override;

 private:
  void run_part(const StepContext& context, const Part& part, uint32_t begin, uint32_t end) const;

  Domain domain_;
  uint32_t k_;
  uint32_t total_rows_ = 0;  // of all parts, each rounded up to whole panels
  std::vector<Part> parts_;
};

}  // namespace halogen::cpu
