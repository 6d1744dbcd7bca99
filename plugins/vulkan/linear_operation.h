// y = weights * x + bias + residual: for a few tokens bound by reading the weights, for many tiled.
#pragma once

#include <array>
#include <optional>

#include "plugins/vulkan/operation.h"
#include "plugins/vulkan/recorder.h"

namespace halogen::vulkan {

// Tokens for which there is a matvec of its own; more than the last are tiled.
inline constexpr std::array<uint32_t, 5> kMatvecTokens = {1, 2, 4, 8, 16};

struct LinearOperation final : Operation {
  struct Matvec {
    PipelineId pipeline = 0;
    MatvecSpecialization specialization;
  };
  std::array<Matvec, kMatvecTokens.size()> matvecs;
  PipelineId matmul = 0;
  Domain domain = Domain::tokens;
  uint32_t weight = 0;
  uint32_t rows = 0, columns = 0, row_bytes = 0;
  Columns x, y;
  std::optional<uint32_t> bias;  // weight
  std::optional<Columns> residual;
  void record(Recorder& recorder, const Bindings& bindings, const StepShape& shape) const override;
};

}  // namespace halogen::vulkan
