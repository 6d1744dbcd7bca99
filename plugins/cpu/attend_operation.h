// Attention of every token over its sequence's blocks. The work follows the schedule of the layer's
// shape; chunks of tiles that are split leave their results with the step's partials, and
// merge_stage folds them.
#pragma once

#include "plugins/cpu/attend_schedule.h"
#include "plugins/cpu/row_stages.h"
#include "plugins/cpu/step_context.h"

namespace halogen::cpu {

// One attention layer.
struct AttendLayer {
  const AttendSchedule* schedule;
  uint32_t kv_layer;
  float scale, softcap;
  const float* sinks;  // [heads], or null
  Columns q, out;
};

class AttendOperation final : public Operation {
 public:
  explicit AttendOperation(const AttendLayer& layer) : layer_(layer) {}
  void run(const StepContext& context, uint32_t index, float* scratch) const override;

 private:
  AttendLayer layer_;
};

// Brings a token's chunks together, where its tile was split.
Stage merge_stage(const AttendLayer& layer);

}  // namespace halogen::cpu
