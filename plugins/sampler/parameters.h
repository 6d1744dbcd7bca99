// The sampling parameters of one sequence, checked and with their own storage.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halogen/sampler.h"

namespace sampler {

// A bias at or below this bans the token.
constexpr float kBan = -100.0F;

struct Parameters {
  uint64_t seed;
  double temperature;
  uint32_t top_k;
  double top_p;
  double min_p;
  double repetition_penalty;
  double presence_penalty;
  double frequency_penalty;
  int32_t penalty_window;
  std::vector<halogen_logit_bias> biases;

  double typical_p;
  double top_n_sigma;
  double xtc_probability;
  double xtc_threshold;
  double dynatemp_range;
  double dynatemp_exponent;
  bool mirostat;
  double mirostat_tau;
  double mirostat_eta;
  double dry_multiplier;
  double dry_base;
  uint32_t dry_allowed_length;
  int32_t dry_penalty_last_n;

  // The stages that have an effect, in their order.
  std::vector<halogen_sampling_stage> chain;

  bool has(halogen_sampling_stage stage) const;
};

// HALOGEN_E_INVALID names the parameter that is out of range; HALOGEN_E_UNSUPPORTED is for
// mirostat 1. Tokens of biases and breakers are only known to be in range of a vocabulary where
// there is one; see check_tokens.
halogen_status check(const halogen_sampling_parameters& given, halogen_error* error);
halogen_status check_tokens(const halogen_sampling_parameters& given, uint32_t vocabulary_size,
                            halogen_error* error);

// Copies parameters that were checked, all but the sequence breakers.
Parameters copy(const halogen_sampling_parameters& given);

// The sequence breakers, borrowed; none where the writer did not know them.
std::span<const int32_t> dry_breakers(const halogen_sampling_parameters& given);

}  // namespace sampler
