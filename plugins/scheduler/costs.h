// What parts of a step cost, by the view's measurements.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "halogen/scheduler.h"

namespace scheduler {

// Times in microseconds. A host of ABI 1.0 tells the cost of a prompt token and of a whole step of
// decodes, which then counts as the fixed part of every step.
class Costs {
 public:
  explicit Costs(const halogen_schedule_view& view) : prefill_token_us_(view.prefill_token_us) {
    if (!HALOGEN_HAS(&view, decode_context_us)) {
      step_us_ = view.decode_step_us;
      return;
    }
    step_us_ = view.step_us;
    decode_token_us_ = view.decode_token_us;
    decode_context_us_ = view.decode_context_us;
    prefill_context_us_ = view.prefill_context_us;
  }

  // Whether a prompt was ever measured.
  bool known() const { return prefill_token_us_ > 0; }
  double step() const { return step_us_; }
  double decode(uint32_t computed) const {
    return decode_token_us_ + decode_context_us_ * computed;
  }
  // `tokens` of a prompt with `computed` before them.
  double prefill(double computed, double tokens) const {
    return tokens * (prefill_token_us_ + prefill_context_us_ * (computed + tokens / 2));
  }
  // How many tokens prefill() makes of `time`.
  uint32_t prefill_tokens_within(double time, double computed) const {
    if (time <= 0) return 0;
    const double token_us = prefill_token_us_ + prefill_context_us_ * computed;
    const double root = std::sqrt(token_us * token_us + 2 * prefill_context_us_ * time);
    return static_cast<uint32_t>(std::min(2 * time / (token_us + root), 4e9));
  }

 private:
  double step_us_ = 0;
  double prefill_token_us_;
  double decode_token_us_ = 0;
  double prefill_context_us_ = 0, decode_context_us_ = 0;
};

}  // namespace scheduler
