// What steps cost: the clock that a scheduler plans by.
//
// A step's time is taken as a sum: a fixed part (the weights are read once, whatever is in it), a
// part for each prompt token and each decode, and for both a part for each token of context before
// them, which is attention. Every step that was measured corrects the five figures by a Kalman
// filter, so that a step teaches as much about each as can be learned from it: a thousand decodes
// leave what is known about prompts as it was, and a single stream says nothing about how much of
// its step is fixed. Corrections by one step are bounded, so that a hiccup of the machine costs
// little; a change that lasts is followed within about ten steps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace halogen {

// What one step computed.
struct StepWork {
  uint32_t prefill_tokens = 0;
  uint32_t decodes = 0;
  double prefill_context = 0;  // for each of the prompt tokens the tokens before it, summed
  double decode_context = 0;   // the same for the decodes

  // `tokens` of a sequence that has `computed` before them.
  void add_prefill(uint32_t computed, uint32_t tokens) {
    prefill_tokens += tokens;
    prefill_context += tokens * (computed + (tokens - 1) / 2.0);
  }
  void add_decode(uint32_t computed) {
    decodes++;
    decode_context += computed;
  }
};

class StepCosts {
 public:
  // A step of at least one token that took `duration_us`. Allocates nothing.
  void measured(double duration_us, const StepWork& work);

  // The expected time of a step; 0 while nothing was measured.
  double of(const StepWork& work) const;
  // How many of `most` prompt tokens at the beginning of a context fit a step of `budget_us`, at
  // least one; a few until the cost is known.
  uint32_t prefill_tokens_within(double budget_us, uint32_t most) const;

  // Microseconds, none negative; 0 while unknown.
  double step_us() const { return costs_[kStep]; }
  double prefill_token_us() const { return costs_[kPrefillToken]; }
  double decode_token_us() const { return costs_[kDecodeToken]; }
  double prefill_context_us() const { return costs_[kPrefillContext]; }
  double decode_context_us() const { return costs_[kDecodeContext]; }

 private:
  enum Part : uint8_t {
    kStep,
    kPrefillToken,
    kDecodeToken,
    kPrefillContext,
    kDecodeContext,
    kParts
  };
  using Vector = std::array<double, kParts>;

  static Vector amounts(const StepWork& work);
  void begin(double duration_us, const StepWork& work);
  void expect_change(const Vector& amounts);

  Vector costs_{};
  Vector first_deviation_{};               // how wrong each cost might have been at the beginning
  std::array<Vector, kParts> variance_{};  // of the costs, with their covariances
  bool begun_ = false;
  bool surprised_ = false;  // by the last step: perhaps it begins a change that lasts
};

}  // namespace halogen
