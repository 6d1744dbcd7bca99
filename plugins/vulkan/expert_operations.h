// Mixtures of experts: the choice, the chosen experts' products, and their sum.
#pragma once

#include <optional>

#include "halogen/graph.h"

#include "plugins/vulkan/operation.h"
#include "plugins/vulkan/recorder.h"

namespace halogen::vulkan {

// Steps of more tokens have their choices sorted by expert and tiled.
inline constexpr uint32_t kExpertMatvecTokens = 8;

struct RouteOperation final : Operation {
  PipelineId pipeline = 0;
  halogen_route_attributes attributes{};
  Columns logits, ids, weights;
  std::optional<uint32_t> correction;  // weight
  void record(Recorder& recorder, const Bindings& bindings, const StepShape& shape) const override;
};

// Sorts the choices of a step that is tiled; the products with these ids follow.
struct GroupOperation final : Operation {
  PipelineId pipeline = 0;
  uint32_t experts = 0, used = 0;
  Columns ids;
  void record(Recorder& recorder, const Bindings& bindings, const StepShape& shape) const override;
};

struct ExpertLinearOperation final : Operation {
  PipelineId matvec = 0, matmul = 0;
  ExpertMatvecSpecialization specialization;
  uint32_t weight = 0;
  uint32_t experts = 0, used = 0, rows = 0, columns = 0, row_bytes = 0;
  bool own_inputs = false;  // each choice has an input of its own
  Columns x, ids, y;
  std::optional<uint32_t> bias;  // weight
  void record(Recorder& recorder, const Bindings& bindings, const StepShape& shape) const override;
};

struct CombineOperation final : Operation {
  PipelineId pipeline = 0;
  CombineSpecialization specialization;
  uint32_t used = 0, columns = 0;
  Columns x, weights, y;
  void record(Recorder& recorder, const Bindings& bindings, const StepShape& shape) const override;
};

}  // namespace halogen::vulkan
