// The operations whose rows are spread over the threads: products with weights, and attention.
#pragma once

#include <vector>

#include "plugins/cpu/step_context.h"

namespace halogen::cpu {

// Several products of the same input, as one operation: their output rows are one common pool of
// work.
class LinearOperation final : public Operation {
 public:
  struct Part {
    LinearKernel* kernel;
    const void* weights;
    uint64_t row_bytes;
    uint32_t rows;  // outputs
    Columns input;  // floats, or a slot of quantised activations (first = 0)
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
  uint32_t total_rows_ = 0;
  std::vector<Part> parts_;
};

// Attention of every token over its sequence's blocks; a unit of work is one token and one K/V
// head.
class AttendOperation final : public Operation {
 public:
  AttendOperation(const halogen_attend_attributes& attributes, uint32_t heads, uint32_t kv_heads,
                  uint32_t key_dim, uint32_t value_dim, const float* sinks, Columns q, Columns out)
      : attributes_(attributes),
        group_(heads / kv_heads),
        kv_heads_(kv_heads),
        key_dim_(key_dim),
        value_dim_(value_dim),
        sinks_(sinks),
        q_(q),
        out_(out) {}
  void run(const StepContext& context, uint32_t index, float* scratch) const override;

 private:
  halogen_attend_attributes attributes_;
  uint32_t group_;  // query heads that share a K/V head
  uint32_t kv_heads_, key_dim_, value_dim_;
  const float* sinks_;
  Columns q_, out_;
};

}  // namespace halogen::cpu
