// The sampling parameters of one sequence, checked and with their own storage.
#pragma once

#include <cstdint>
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

  bool penalises() const {
    return penalty_window != 0 &&
           (repetition_penalty != 1.0 || presence_penalty != 0.0 || frequency_penalty != 0.0);
  }
};

// HALOGEN_E_INVALID names the parameter that is out of range. Bias tokens are only known to be in
// range of a vocabulary where there is one; see check_biases.
halogen_status check(const halogen_sampling_parameters& given, halogen_error* error);
halogen_status check_biases(const halogen_sampling_parameters& given, uint32_t vocabulary_size,
                            halogen_error* error);

// Copies parameters that were checked.
Parameters copy(const halogen_sampling_parameters& given);

}  // namespace sampler
