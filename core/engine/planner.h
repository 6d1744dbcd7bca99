// Asks the scheduler what the next step computes, and does not trust the answer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halogen/scheduler.h"

#include "core/engine/engine.h"
#include "core/engine/kv_memory.h"
#include "core/engine/sequence.h"
#include "core/engine/step_costs.h"

namespace halogen {

class Planner {
 public:
  // `live` is how many sequences there are at most at any time.
  Planner(const EngineParts& parts, const EngineLimits& limits, size_t live);

  // [device] A sound plan for `sequences`, which are in order of arrival and at least one; valid
  // until the next call. When the scheduler fails or breaks an invariant, the plan is first come
  // first served, refused_count() grows and the log says why.
  const halogen_schedule_plan& next(const std::vector<Sequence*>& sequences, const KvMemory& kv,
                                    const StepCosts& costs, uint64_t now_us);

  uint64_t refused_count() const { return refused_; }

 private:
  void describe(const std::vector<Sequence*>& sequences, const KvMemory& kv, const StepCosts& costs,
                uint64_t now_us);
  void offer_cached(Sequence& sequence, const KvMemory& kv, size_t i);
  void report_refusal(const std::string& why);

  const EngineParts& parts_;
  const uint32_t most_prefill_tokens_;
  const double longest_prefill_us_;
  uint64_t refused_ = 0;

  halogen_schedule_view view_{};
  halogen_schedule_plan plan_{};
  // The arrays of the view and the plan, by request.
  std::vector<uint64_t> ids_, arrivals_;
  std::vector<int32_t> priorities_;
  std::vector<uint8_t> states_, preempt_;
  std::vector<uint32_t> computed_, waiting_, cached_, generated_, held_, tokens_;
};

}  // namespace halogen
