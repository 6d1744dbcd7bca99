// What a scheduler's plan has to fulfil, and the plan that takes its place when it does not.
#pragma once

#include <cstdint>

#include "halogen/scheduler.h"

namespace halogen {

// Blocks that hold `tokens` positions.
constexpr uint32_t blocks_for(uint64_t tokens, uint32_t block_tokens) {
  return static_cast<uint32_t>((tokens + block_tokens - 1) / block_tokens);
}

struct PlanFault {
  const char* what = nullptr;  // null: the plan is sound
  uint32_t request = 0;        // index in the view, or n_requests where the sum is at fault
};

// Checks every invariant that halogen/scheduler.h lists, and that the plan gets on: it computes
// something or preempts somebody. Pure; allocates nothing.
PlanFault check_plan(const halogen_schedule_view& view, const halogen_schedule_plan& plan);

// Overwrites `plan` with a sound one, first come first served: running requests in order of
// arrival as far as tokens and blocks reach, then the oldest waiting ones that fit; where nobody
// could get on, the youngest running requests give their blocks to the oldest. Some request gets
// tokens whenever the oldest one fits an empty pool. Pure; allocates nothing.
void plan_in_order(const halogen_schedule_view& view, halogen_schedule_plan& plan);

}  // namespace halogen
