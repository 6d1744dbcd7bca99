// What steps have cost lately: the clock that a scheduler plans by.
#pragma once

#include <algorithm>
#include <cstdint>

namespace halogen {

// Exponentially weighted means in microseconds; 0 while nothing was measured.
class StepCosts {
 public:
  // A step that took `duration_us` for `prefill_tokens` of prompts and `decodes` sequences that
  // decoded. In a mixed step the decodes count with what they cost alone.
  void measured(double duration_us, uint32_t prefill_tokens, uint32_t decodes) {
    if (prefill_tokens == 0) {
      blend(decode_step_us_, duration_us);
    } else {
      const double prefill_us = duration_us - (decodes > 0 ? decode_step_us_ : 0.0);
      blend(prefill_token_us_, std::max(prefill_us, 0.0) / prefill_tokens);
    }
  }

  // How many of `most` prompt tokens fit a step of about `budget_us`: a prefill stops nobody's
  // stream for long, and a request can be cancelled within one step. A few until the cost is known.
  uint32_t prefill_tokens_within(double budget_us, uint32_t most) const {
    const double tokens = prefill_token_us_ == 0.0
                              ? kFirstPrefill
                              : std::max(kLeastPrefill, budget_us / prefill_token_us_);
    return tokens < static_cast<double>(most) ? static_cast<uint32_t>(tokens) : most;
  }

  double prefill_token_us() const { return prefill_token_us_; }
  double decode_step_us() const { return decode_step_us_; }

 private:
  // A fifth of the newest: follows a change of load within about ten steps.
  static constexpr double kWeight = 0.2;
  static constexpr double kFirstPrefill = 128;
  static constexpr double kLeastPrefill = 16;

  static void blend(double& mean, double sample) {
    mean = mean == 0.0 ? sample : mean + kWeight * (sample - mean);
  }

  double prefill_token_us_ = 0.0;
  double decode_step_us_ = 0.0;
};

}  // namespace halogen
