#include "turn.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace scheduler {
namespace {

constexpr uint32_t kUnlimited = std::numeric_limits<uint32_t>::max();
// Prompt tokens of a step before any was measured, and the least that a step has for prompts.
constexpr uint32_t kFirstChunk = 128, kLeastChunk = 8;
// A step may take as many times what its decodes do, whatever the target: so prompts get on beside
// decodes that take long.
constexpr double kLeastSteps = 3;
// As many times longer it may be where more requests wait for their first token than for the next.
constexpr double kMostStretch = 2;
// Where nobody waits for the end of a step it may take as many target intervals, or as many times
// its fixed cost: so little is lost by cutting a prompt, and a newcomer starts soon.
constexpr double kIdleIntervals = 4, kIdleSteps = 8;
constexpr double kOldestShare = 0.25;  // of a step's time and tokens for prompts

}  // namespace

Turn::Turn(const halogen_schedule_view& view, halogen_schedule_plan& plan, const Order& order,
           const Costs& costs, uint32_t chunk)
    : view_(view),
      plan_(plan),
      order_(order),
      costs_(costs),
      chunk_(chunk == 0 ? kUnlimited : chunk),
      tokens_left_(view.token_budget),
      prefill_left_(costs.known() ? view.prefill_budget
                                  : std::min(view.prefill_budget, kFirstChunk)),
      free_blocks_(view.free_blocks),
      running_(static_cast<uint32_t>(order.running().size())),
      spent_us_(costs.step()) {}

void Turn::plan() {
  decode();
  serve_prompts();
  break_deadlock();
}

bool Turn::is_running(uint32_t i) const {
  return view_.states[i] == HALOGEN_REQUEST_RUNNING && plan_.preempt[i] == HALOGEN_KEEP;
}

// Blocks that request i lacks in order to have `tokens` more in the pool.
uint32_t Turn::lacking(uint32_t i, uint64_t tokens) const {
  const uint64_t positions = view_.computed_tokens[i] + tokens;
  const auto needed =
      static_cast<uint32_t>((positions + view_.block_tokens - 1) / view_.block_tokens);
  return needed - std::min(needed, view_.blocks_held[i]);
}

void Turn::give(uint32_t i, uint32_t tokens) {
  plan_.tokens[i] = tokens;
  tokens_left_ -= tokens;
  free_blocks_ -= lacking(i, tokens);
  given_ = true;
}

void Turn::decode() {
  for (const uint32_t i : order_.running()) {
    if (tokens_left_ == 0) break;
    if (!is_running(i) || view_.waiting_tokens[i] != 1 || !make_room(i)) continue;
    give(i, 1);
    spent_us_ += costs_.decode(view_.computed_tokens[i]);
    decodes_++;
  }
}

// Preempts the youngest until request i can have one more token; false if it had to go itself.
// Copying what was computed to a second tier and back is always cheaper than computing it again.
bool Turn::make_room(uint32_t i) {
  const std::span<const uint32_t> running = order_.running();
  for (size_t last = running.size(); lacking(i, 1) > free_blocks_;) {
    const uint32_t victim = running[--last];
    if (!is_running(victim)) continue;
    plan_.preempt[victim] = HALOGEN_PREEMPT_SPILL;
    free_blocks_ += view_.blocks_held[victim];
    preempted_ = true;
    running_--;
    if (victim == i) return false;
  }
  return true;
}

// Sets what the step may take.
void Turn::set_limits() {
  const double target = view_.target_token_interval_us;
  if (target == 0) {
    fluent_us_ = limit_us_ = std::numeric_limits<double>::infinity();
    return;
  }
  fluent_us_ = std::max(target, kLeastSteps * spent_us_);
  const auto prompts = static_cast<double>(order_.prompts().size());
  limit_us_ = decodes_ > 0
                  ? fluent_us_ * std::clamp(prompts / decodes_, 1.0, kMostStretch)
                  : std::max({fluent_us_, kIdleIntervals * target, kIdleSteps * costs_.step()});
}

void Turn::serve_prompts() {
  const std::span<const uint32_t> prompts = order_.prompts();
  if (prompts.empty()) return;
  set_limits();
  closed_ = preempted_;  // what just gave its blocks back would take them again
  const uint32_t place = order_.oldest();
  const uint32_t oldest = prompts[place];
  const double begun_us = spent_us_;
  const auto until = [&](double share) { return begun_us + share * (limit_us_ - begun_us); };
  if (place > 0 && !is_running(oldest) && order_.overdue(oldest, view_.now_us)) {
    serve(oldest, until(kOldestShare));
    for (const uint32_t i : prompts.first(place)) serve(i, limit_us_);
  } else {
    const uint32_t reserved = place > 0 ? (std::min(prefill_left_, tokens_left_) + 2) / 4 : 0;
    const double others_until_us = until(1 - kOldestShare);
    prefill_left_ -= reserved;
    tokens_left_ -= reserved;
    for (const uint32_t i : prompts.first(place)) serve(i, std::min(others_until_us, limit_us_));
    prefill_left_ += reserved;
    tokens_left_ += reserved;
    const double earned_us = (spent_us_ - begun_us) * kOldestShare / (1 - kOldestShare);
    serve(oldest, std::max(limit_us_, spent_us_ + earned_us));
  }
  for (const uint32_t i : prompts.subspan(place + 1)) serve(i, limit_us_);
}

bool Turn::fits(uint32_t newcomer) const {
  if (running_ == 0) return true;
  // With its first generated token, and a block for each of the others to grow.
  uint64_t wanted = lacking(newcomer, uint64_t{view_.waiting_tokens[newcomer]} + 1) + running_;
  for (uint32_t i = 0; i < view_.n_requests; i++) {
    if (!is_running(i) && plan_.tokens[i] == 0) continue;
    wanted += lacking(i, view_.waiting_tokens[i]) - lacking(i, plan_.tokens[i]);
  }
  return wanted <= free_blocks_;
}

bool Turn::can_be_admitted(uint32_t i) const {
  return !closed_ && running_ < view_.max_sequences && fits(i);
}

uint32_t Turn::chunk_of(uint32_t i, double until_us) const {
  const uint64_t positions = uint64_t{view_.blocks_held[i] + free_blocks_} * view_.block_tokens;
  const uint64_t room = positions - std::min<uint64_t>(positions, view_.computed_tokens[i]);
  uint32_t timely = kUnlimited;
  if (costs_.known() && std::isfinite(until_us)) {
    timely = costs_.prefill_tokens_within(until_us - spent_us_, view_.computed_tokens[i]);
    if (!prompts_given_) timely = std::max(timely, kLeastChunk);
  }
  return static_cast<uint32_t>(std::min<uint64_t>(
      {view_.waiting_tokens[i], timely, chunk_, prefill_left_, tokens_left_, room}));
}

// The next tokens of a prompt, as many as fit a step that takes `until_us`. Where one that waits
// gets none, nobody else is admitted: none behind it overtakes it.
void Turn::serve(uint32_t i, double until_us) {
  const bool waits = view_.states[i] == HALOGEN_REQUEST_WAITING;
  if (waits ? !can_be_admitted(i) : !is_running(i)) {
    closed_ |= waits;
    return;
  }
  const uint32_t tokens = chunk_of(i, until_us);
  if (tokens == 0) {
    closed_ |= waits;
    return;
  }
  running_ += waits;
  prefill_left_ -= tokens;
  spent_us_ += costs_.prefill(view_.computed_tokens[i], tokens);
  prompts_given_ = true;
  give(i, tokens);
  if (tokens == view_.waiting_tokens[i]) limit_us_ = std::min(limit_us_, fluent_us_);
}

// Prompts alone can fill the pool, each waiting for another's blocks: the youngest yield.
void Turn::break_deadlock() {
  if (given_ || preempted_ || order_.running().empty()) return;
  const uint32_t oldest = order_.running().front();
  if (make_room(oldest)) serve(oldest, limit_us_);
}

}  // namespace scheduler
