// Operations on each row for itself: look-ups, norms, rotations, activations, sums, copies.
#pragma once

#include <optional>

#include "plugins/vulkan/operation.h"
#include "plugins/vulkan/recorder.h"

namespace halogen::vulkan {

// y[t] = scale * table[id of token t]
struct EmbedOperation final : Operation {
  PipelineId pipeline = 0;
  EmbedSpecialization specialization;
  uint32_t table = 0;  // weight
  uint32_t row_bytes = 0, columns = 0;
  float scale = 1;
  Columns y;
  void record(Recorder& recorder, const Bindings& bindings, const StepShape& shape) const override;
};

// Each of the `vectors` vectors of a row by itself.
struct NormOperation final : Operation {
  PipelineId pipeline = 0;
  Domain domain = Domain::tokens;
  std::optional<uint32_t> weight, bias;
  uint32_t vectors = 1, columns = 0;
  float epsilon = 0, weight_offset = 0;
  Columns x, y;
  void record(Recorder& recorder, const Bindings& bindings, const StepShape& shape) const override;
};

struct RopeOperation final : Operation {
  PipelineId pipeline = 0;
  uint32_t rotation = 0;  // of the plan
  uint32_t pairs = 0, heads = 0, head_dim = 0;
  Columns x, y;
  void record(Recorder& recorder, const Bindings& bindings, const StepShape& shape) const override;
};

// y = activation(gate) * up, or activation(gate)
struct ActivateOperation final : Operation {
  PipelineId pipeline = 0;
  ActivateSpecialization specialization;
  Domain domain = Domain::tokens;
  uint32_t columns = 0;
  float alpha = 0, limit = 0;
  Columns gate, y;
  std::optional<Columns> up;
  void record(Recorder& recorder, const Bindings& bindings, const StepShape& shape) const override;
};

// y = f(a, b) or f(a); b is a matrix, or a vector that every row has.
struct ElementwiseOperation final : Operation {
  PipelineId pipeline = 0;
  ElementwiseSpecialization specialization;
  Domain domain = Domain::tokens;
  uint32_t columns = 0, b_columns = 0;
  float factor = 0;
  Columns a, y;
  std::optional<Columns> b;
  std::optional<uint32_t> b_vector;  // weight
  void record(Recorder& recorder, const Bindings& bindings, const StepShape& shape) const override;
};

// Row r of y is row r of x, or x's row that the step wants as its r-th.
struct CopyOperation final : Operation {
  PipelineId pipeline = 0;
  CopySpecialization specialization;
  Domain domain = Domain::tokens;  // y's
  bool select = false;
  uint32_t columns = 0;
  Columns x, y;
  void record(Recorder& recorder, const Bindings& bindings, const StepShape& shape) const override;
};

}  // namespace halogen::vulkan
