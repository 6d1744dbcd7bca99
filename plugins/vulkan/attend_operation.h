// Attention: K and V of the step's tokens go into the pool, then each token attends to what the
// pool has of its sequence.
#pragma once

#include <optional>

#include "halogen/graph.h"

#include "plugins/vulkan/operation.h"
#include "plugins/vulkan/recorder.h"

namespace halogen::vulkan {

struct KvStoreOperation final : Operation {
  enum class Side : uint8_t { keys, values };
  PipelineId pipeline = 0;
  KvStoreSpecialization specialization;
  Side side = Side::keys;
  uint32_t kv_layer = 0;
  uint32_t heads = 0, head_dim = 0;
  Columns x;
  void record(Recorder& recorder, const Bindings& bindings, const StepShape& shape) const override;
};

struct AttendOperation final : Operation {
  PipelineId decode = 0, merge = 0, prefill = 0;
  AttendDecodeSpecialization decode_specialization;
  AttendPrefillSpecialization prefill_specialization;
  halogen_attend_attributes attributes{};
  uint32_t kv_heads = 0, group = 0;
  std::optional<uint32_t> sinks;  // weight
  Columns q, y;
  void record(Recorder& recorder, const Bindings& bindings, const StepShape& shape) const override;
};

}  // namespace halogen::vulkan
