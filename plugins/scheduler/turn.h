// One plan in the making: what is left of a step's tokens, time and blocks, and the passes that
// spend it.
//
// A step first serves every running request that decodes, then prompts in the policy's order.
//   - Time. While somebody decodes, the step is as long as the target interval, or three times what
//     the decodes take where that is longer; up to twice that while more requests wait for their
//     first token than for the next. While nobody decodes, it may be some intervals long, so that
//     little is lost by cutting prompts. But once a prompt ends in it, somebody waits for its first
//     token, and no further prompt makes the step longer than the target.
//   - The oldest prompt has a quarter of the prompts' time of every step, whatever the order: so it
//     is done after four times the time that it takes alone, and nobody starves.
//   - Blocks. When a decode lacks one, the youngest running request is preempted, itself at worst.
//     A waiting request is admitted only if the pool can take its whole prompt, the rest of the
//     prompts that run already, and one more block for every running request; so what is admitted
//     is not preempted at once. Alone, it needs no such margin.
//   - Nobody overtakes a request that cannot be admitted, except those that the order has in front
//     of it; and not even they once it is the oldest and overdue.
#pragma once

#include <cstdint>

#include "halogen/scheduler.h"

#include "costs.h"
#include "order.h"

namespace scheduler {

class Turn {
 public:
  // `chunk`: most prompt tokens of one request. The plan is all zero.
  Turn(const halogen_schedule_view& view, halogen_schedule_plan& plan, const Order& order,
       const Costs& costs, uint32_t chunk);

  void plan();

 private:
  void decode();
  void serve_prompts();
  void break_deadlock();

  bool is_running(uint32_t i) const;
  uint32_t lacking(uint32_t i, uint64_t tokens) const;
  bool make_room(uint32_t i);
  bool fits(uint32_t newcomer) const;
  bool can_be_admitted(uint32_t i) const;
  void set_limits();
  void serve(uint32_t i, double until_us);
  uint32_t chunk_of(uint32_t i, double until_us) const;
  void give(uint32_t i, uint32_t tokens);

  const halogen_schedule_view& view_;
  halogen_schedule_plan& plan_;
  const Order& order_;
  const Costs& costs_;
  const uint32_t chunk_;
  uint32_t tokens_left_, prefill_left_, free_blocks_;
  uint32_t running_ = 0;  // after this step, as planned so far
  uint32_t decodes_ = 0;
  double spent_us_;       // by what is planned so far
  double fluent_us_ = 0;  // what a step may take while somebody waits for its end
  double limit_us_ = 0;   // what this step may take
  bool given_ = false, preempted_ = false, prompts_given_ = false;
  bool closed_ = false;  // nobody is admitted any more
};

}  // namespace scheduler
