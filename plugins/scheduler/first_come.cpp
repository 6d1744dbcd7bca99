#include "first_come.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace scheduler {

namespace {

constexpr uint32_t kUnlimited = std::numeric_limits<uint32_t>::max();

// One plan in the making: what is left of the budgets, and the passes that spend it.
class Turn {
 public:
  Turn(const halogen_schedule_view& view, halogen_schedule_plan& plan,
       const std::vector<uint32_t>& order, uint32_t prefill_chunk)
      : view_(view),
        plan_(plan),
        order_(order),
        chunk_(prefill_chunk),
        tokens_left_(view.token_budget),
        prefill_left_(view.prefill_budget),
        free_blocks_(view.free_blocks) {
    for (uint32_t i = 0; i < view.n_requests; i++) running_ += is_running(i);
  }

  void decode() {
    for (size_t place = 0; place < order_.size() && tokens_left_ > 0; place++) {
      const uint32_t i = order_[place];
      if (!is_running(i) || view_.waiting_tokens[i] != 1) continue;
      if (make_room(place)) give(i, 1);
    }
  }

  void continue_prompts() {
    for (uint32_t i : order_)
      if (is_running(i) && view_.waiting_tokens[i] > 1) give_chunk(i);
  }

  void admit() {
    if (preempted_) return;  // what just gave its blocks back would take them again
    for (uint32_t i : order_) {
      if (is_running(i)) continue;
      if (running_ >= view_.max_sequences || !fits(i) || !give_chunk(i)) return;
      running_++;
    }
  }

  // Prompts alone can fill the pool, each waiting for another's blocks: the last ones yield.
  void break_deadlock() {
    if (given_ || preempted_) return;
    for (size_t place = 0; place < order_.size(); place++) {
      if (!is_running(order_[place])) continue;
      if (make_room(place)) give_chunk(order_[place]);
      return;
    }
  }

 private:
  bool is_running(uint32_t i) const {
    return view_.states[i] == HALOGEN_REQUEST_RUNNING && plan_.preempt[i] == HALOGEN_KEEP;
  }

  // Blocks that request i lacks in order to have `tokens` more in the pool.
  uint32_t lacking(uint32_t i, uint64_t tokens) const {
    const uint64_t positions = view_.computed_tokens[i] + tokens;
    const auto needed =
        static_cast<uint32_t>((positions + view_.block_tokens - 1) / view_.block_tokens);
    return needed - std::min(needed, view_.blocks_held[i]);
  }

  void give(uint32_t i, uint32_t tokens) {
    plan_.tokens[i] = tokens;
    tokens_left_ -= tokens;
    free_blocks_ -= lacking(i, tokens);
    given_ = true;
  }

  bool give_chunk(uint32_t i) {
    const uint64_t room = uint64_t{view_.blocks_held[i] + free_blocks_} * view_.block_tokens -
                          view_.computed_tokens[i];
    const auto tokens = static_cast<uint32_t>(
        std::min<uint64_t>({view_.waiting_tokens[i], chunk_, tokens_left_, prefill_left_, room}));
    if (tokens == 0) return false;
    prefill_left_ -= tokens;
    give(i, tokens);
    return true;
  }

  // Preempts from the end of the order until the request at `place` can have one more token; false
  // if it had to go itself.
  bool make_room(size_t place) {
    const uint32_t i = order_[place];
    for (size_t last = order_.size(); lacking(i, 1) > free_blocks_;) {
      const uint32_t victim = order_[--last];
      if (!is_running(victim)) continue;
      plan_.preempt[victim] = HALOGEN_PREEMPT_RECOMPUTE;
      free_blocks_ += view_.blocks_held[victim];
      preempted_ = true;
      running_--;
      if (victim == i) return false;
    }
    return true;
  }

  bool fits(uint32_t newcomer) const {
    if (running_ == 0) return true;
    // With its first generated token, and a block for each of the others to grow.
    uint64_t wanted = lacking(newcomer, uint64_t{view_.waiting_tokens[newcomer]} + 1) + running_;
    for (uint32_t i : order_) {
      if (!is_running(i) && plan_.tokens[i] == 0) continue;
      wanted += lacking(i, view_.waiting_tokens[i]) - lacking(i, plan_.tokens[i]);
    }
    return wanted <= free_blocks_;
  }

  const halogen_schedule_view& view_;
  halogen_schedule_plan& plan_;
  const std::vector<uint32_t>& order_;
  const uint32_t chunk_;
  uint32_t tokens_left_, prefill_left_, free_blocks_;
  uint32_t running_ = 0;  // after this step, as planned so far
  bool given_ = false, preempted_ = false;
};

}  // namespace

FirstCome::FirstCome(uint32_t prefill_chunk)
    : prefill_chunk_(prefill_chunk == 0 ? kUnlimited : prefill_chunk) {}

void FirstCome::plan(const halogen_schedule_view& view, halogen_schedule_plan& plan) {
  order_.resize(view.n_requests);
  std::iota(order_.begin(), order_.end(), 0U);
  std::sort(order_.begin(), order_.end(), [&view](uint32_t a, uint32_t b) {
    if (view.priorities[a] != view.priorities[b]) return view.priorities[a] > view.priorities[b];
    return a < b;  // the view is in order of arrival
  });

  Turn turn(view, plan, order_, prefill_chunk_);
  turn.decode();
  turn.continue_prompts();
  turn.admit();
  turn.break_deadlock();
}

}  // namespace scheduler
