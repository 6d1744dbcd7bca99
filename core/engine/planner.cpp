#include "core/engine/planner.h"

#include <algorithm>
#include <bit>

#include "core/base/call_plugin.h"
#include "core/engine/plan.h"

namespace halogen {
namespace {

// The share of a step's deadline that prompts are offered: for schedulers that look at no cost.
constexpr double kShareOfDeadline = 0.1;

}  // namespace

Planner::Planner(const EngineParts& parts, const EngineLimits& limits, size_t live)
    : parts_(parts),
      most_prefill_tokens_(limits.prefill_batch_tokens),
      longest_prefill_us_(kShareOfDeadline * static_cast<double>(limits.step_timeout_us)),
      ids_(live),
      arrivals_(live),
      priorities_(live),
      states_(live),
      preempt_(live),
      computed_(live),
      waiting_(live),
      cached_(live),
      generated_(live),
      held_(live),
      tokens_(live) {
  view_.struct_size = sizeof view_;
  view_.ids = ids_.data();
  view_.arrival_us = arrivals_.data();
  view_.priorities = priorities_.data();
  view_.states = states_.data();
  view_.computed_tokens = computed_.data();
  view_.waiting_tokens = waiting_.data();
  view_.cached_tokens = cached_.data();
  view_.generated_tokens = generated_.data();
  view_.blocks_held = held_.data();
  view_.block_tokens = limits.block_tokens;
  view_.total_blocks = limits.total_blocks;
  view_.token_budget = limits.max_batch_tokens;
  view_.max_sequences = limits.max_sequences;
  view_.target_token_interval_us = static_cast<double>(limits.target_token_interval_us);
  plan_.struct_size = sizeof plan_;
  plan_.tokens = tokens_.data();
  plan_.preempt = preempt_.data();
}

void Planner::describe(const std::vector<Sequence*>& sequences, const KvMemory& kv,
                       const StepCosts& costs, uint64_t now_us) {
  StepWork decodes;
  for (size_t i = 0; i < sequences.size(); i++) {
    Sequence& sequence = *sequences[i];
    ids_[i] = sequence.id;
    arrivals_[i] = sequence.submitted_us;
    priorities_[i] = sequence.priority;
    states_[i] = sequence.running ? HALOGEN_REQUEST_RUNNING : HALOGEN_REQUEST_WAITING;
    computed_[i] = sequence.computed;
    waiting_[i] = sequence.waiting();
    generated_[i] = sequence.generated();
    cached_[i] = 0;
    held_[i] = static_cast<uint32_t>(sequence.blocks.size());
    if (!sequence.running) offer_cached(sequence, kv, i);
    if (sequence.running && waiting_[i] == 1) decodes.add_decode(sequence.computed);
  }
  view_.n_requests = static_cast<uint32_t>(sequences.size());
  view_.now_us = now_us;
  view_.free_blocks = kv.available();
  view_.prefill_budget = costs.prefill_tokens_within(longest_prefill_us_, most_prefill_tokens_);
  view_.decode_step_us = costs.of(decodes);
  view_.step_us = costs.step_us();
  view_.prefill_token_us = costs.prefill_token_us();
  view_.prefill_context_us = costs.prefill_context_us();
  view_.decode_token_us = costs.decode_token_us();
  view_.decode_context_us = costs.decode_context_us();
}

// A waiting request gets what the cache has with its first step: to a scheduler it has that
// already, and lacks the blocks that nobody holds.
void Planner::offer_cached(Sequence& sequence, const KvMemory& kv, size_t i) {
  kv.look_up(sequence);
  held_[i] = kv.shared_blocks(sequence);
  // What is in the second tier may find no room now; no more is offered than the pool can have.
  const uint64_t room = (uint64_t{held_[i]} + kv.available()) * view_.block_tokens;
  cached_[i] = computed_[i] =
      static_cast<uint32_t>(std::min<uint64_t>(kv.ready_tokens(sequence), room));
  waiting_[i] -= cached_[i];
}

const halogen_schedule_plan& Planner::next(const std::vector<Sequence*>& sequences,
                                           const KvMemory& kv, const StepCosts& costs,
                                           uint64_t now_us) {
  describe(sequences, kv, costs, now_us);
  std::fill_n(tokens_.begin(), sequences.size(), 0);
  std::fill_n(preempt_.begin(), sequences.size(), static_cast<uint8_t>(HALOGEN_KEEP));

  const Status status = call_plugin([&](halogen_error* error) {
    return parts_.scheduler->plan(parts_.scheduler_instance, &view_, &plan_, error);
  });
  if (!status) {
    report_refusal("the scheduler failed: " + status.error().message);
    plan_in_order(view_, plan_);
  } else if (PlanFault fault = check_plan(view_, plan_); fault.what != nullptr) {
    std::string why = std::string("the scheduler's plan was refused: ") + fault.what;
    if (fault.request < view_.n_requests)
      why += " (request " + std::to_string(ids_[fault.request]) + ")";
    report_refusal(why);
    plan_in_order(view_, plan_);
  }
  return plan_;
}

void Planner::report_refusal(const std::string& why) {
  // A scheduler that is wrong is likely to be wrong at every step: log the 1st, 2nd, 4th, 8th …
  refused_++;
  if (parts_.log && std::has_single_bit(refused_)) {
    parts_.log(HALOGEN_LOG_ERROR, why + "; this step is planned first come, first served instead" +
                                      " (" + std::to_string(refused_) + " so far)");
  }
}

}  // namespace halogen
