// First come, first served, with long prompts cut into chunks.
//
// A step first serves every running request that decodes, then gives what is left of the budgets to
// prompts in order, then admits waiting requests in order. The order is priority, then arrival.
//   - When a decode lacks a block, the last running request in order is preempted, itself at worst.
//   - A waiting request is admitted only if the pool can take its whole prompt, the rest of the
//     prompts that run already, and one more block for every running request; so what is admitted
//     is not preempted at once. Alone, it needs no such margin.
//   - Nobody overtakes: a request too large for now holds up those behind it, until the running
//     ones have ended. So nobody starves, and the first in order always gets on.
#pragma once

#include <cstdint>
#include <vector>

#include "halogen/scheduler.h"

namespace scheduler {

class FirstCome {
 public:
  // `prefill_chunk`: most prompt tokens of one request in a step; 0: no limit but the budgets.
  explicit FirstCome(uint32_t prefill_chunk);

  // [device] A function of the view alone; the members only save allocating. May throw
  // std::bad_alloc when there are more requests than ever before.
  void plan(const halogen_schedule_view& view, halogen_schedule_plan& plan);

 private:
  const uint32_t prefill_chunk_;
  std::vector<uint32_t> order_;  // indices of requests, first served first
};

}  // namespace scheduler
