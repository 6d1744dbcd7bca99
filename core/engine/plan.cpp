#include "core/engine/plan.h"

#include <algorithm>

namespace halogen {

namespace {

bool is_running(const halogen_schedule_view& view, uint32_t i) {
  return view.states[i] == HALOGEN_REQUEST_RUNNING;
}

// Blocks that request i lacks in order to compute `tokens` more.
uint32_t blocks_lacking(const halogen_schedule_view& view, uint32_t i, uint32_t tokens) {
  const uint32_t needed = blocks_for(uint64_t{view.computed_tokens[i]} + tokens, view.block_tokens);
  return needed - std::min(needed, view.blocks_held[i]);
}

// The most tokens of request i that `free_blocks` more blocks can hold.
uint32_t tokens_that_fit(const halogen_schedule_view& view, uint32_t i, uint32_t free_blocks) {
  const uint64_t room = (uint64_t{view.blocks_held[i]} + free_blocks) * view.block_tokens;
  const uint64_t left = room - std::min<uint64_t>(room, view.computed_tokens[i]);
  return static_cast<uint32_t>(std::min<uint64_t>(left, view.waiting_tokens[i]));
}

}  // namespace

PlanFault check_plan(const halogen_schedule_view& view, const halogen_schedule_plan& plan) {
  uint64_t tokens = 0, lacking = 0, available = view.free_blocks;
  uint32_t running_before = 0, running_after = 0, preempted = 0;
  for (uint32_t i = 0; i < view.n_requests; i++) {
    const bool running = is_running(view, i);
    running_before += running;
    if (plan.preempt[i] > HALOGEN_PREEMPT_SPILL) return {"preempt is no known value", i};
    if (plan.preempt[i] != HALOGEN_KEEP) {
      if (!running) return {"it preempts a request that is not running", i};
      if (plan.tokens[i] != 0) return {"a preempted request gets tokens", i};
      available += view.blocks_held[i];
      preempted++;
      continue;
    }
    if (plan.tokens[i] > view.waiting_tokens[i]) return {"more tokens than are waiting", i};
    tokens += plan.tokens[i];
    if (plan.tokens[i] > 0) lacking += blocks_lacking(view, i, plan.tokens[i]);
    running_after += running || plan.tokens[i] > 0;
  }
  const uint32_t all = view.n_requests;
  if (tokens > view.token_budget) return {"more tokens than the step may have", all};
  if (lacking > available) return {"more blocks than are free", all};
  if (running_after > view.max_sequences) return {"more running requests than allowed", all};
  if (running_before == 0 && tokens == 0 && all > 0) return {"requests wait and none starts", all};
  if (tokens == 0 && preempted == 0 && all > 0) return {"nobody gets on", all};
  return {};
}

void plan_in_order(const halogen_schedule_view& view, halogen_schedule_plan& plan) {
  const uint32_t n = view.n_requests;
  std::fill_n(plan.tokens, n, 0);
  std::fill_n(plan.preempt, n, static_cast<uint8_t>(HALOGEN_KEEP));
  uint32_t budget = view.token_budget;
  uint32_t free = view.free_blocks;
  auto give_tokens = [&](uint32_t i) {
    const uint32_t tokens = std::min(budget, tokens_that_fit(view, i, free));
    if (tokens == 0) return false;
    plan.tokens[i] = tokens;
    budget -= tokens;
    free -= blocks_lacking(view, i, tokens);
    return true;
  };

  uint32_t running = 0;
  bool anybody = false;
  for (uint32_t i = 0; i < n; i++) {
    if (!is_running(view, i)) continue;
    running++;
    anybody |= give_tokens(i);
  }
  // The pool is full of requests that all need another block: the youngest yield to the oldest.
  const auto* first_running = std::find(view.states, view.states + n, HALOGEN_REQUEST_RUNNING);
  const auto oldest = static_cast<uint32_t>(first_running - view.states);
  for (uint32_t i = n; !anybody && i-- > oldest + 1;) {
    if (!is_running(view, i)) continue;
    plan.preempt[i] = HALOGEN_PREEMPT_RECOMPUTE;
    free += view.blocks_held[i];
    anybody = give_tokens(oldest);
    if (anybody) return;  // admitting somebody now would only take the blocks again
  }
  for (uint32_t i = 0; i < n && running < view.max_sequences; i++) {
    if (is_running(view, i)) continue;
    if (!give_tokens(i)) break;  // nobody overtakes
    running++;
  }
}

}  // namespace halogen
