#include "parameters.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>

#include "halogen/cxx/plugin.hpp"

namespace sampler {

namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

struct Range {
  const char* name;
  double value, least, most;
  const char* allowed;
};

}  // namespace

halogen_status check(const halogen_sampling_parameters& given, halogen_error* error) {
  if (!HALOGEN_HAS(&given, biases)) {
    return halogen::failed(
        error, HALOGEN_E_INVALID,
        "the sampling parameters are of an older layout than this sampler reads");
  }
  constexpr double kHuge = std::numeric_limits<float>::max();
  const Range ranges[] = {
      {"temperature", given.temperature, 0, kHuge, "0 or more"},
      {"top_k", static_cast<double>(given.top_k), 0, kHuge, "0 (off) or more"},
      {"top_p", given.top_p, 0, 1, "from 0 to 1"},
      {"min_p", given.min_p, 0, 1, "from 0 to 1"},
      {"repetition_penalty", given.repetition_penalty, std::numeric_limits<float>::min(), kHuge,
       "above 0"},
      {"presence_penalty", given.presence_penalty, -kHuge, kHuge, "finite"},
      {"frequency_penalty", given.frequency_penalty, -kHuge, kHuge, "finite"},
      {"penalty_window", static_cast<double>(given.penalty_window), -1, kHuge,
       "-1 (all tokens) or more"},
  };
  for (const Range& range : ranges) {
    // Written so that a value that is not a number fails as well.
    if (range.value >= range.least && range.value <= range.most) continue;
    return halogen::failed(
        error, HALOGEN_E_INVALID,
        std::string(range.name) + " is " + number(range.value) + "; it must be " + range.allowed);
  }
  for (uint32_t i = 0; i < given.n_biases; i++) {
    const halogen_logit_bias& bias = given.biases[i];
    if (std::isnan(bias.bias) || bias.bias > static_cast<float>(kHuge)) {
      return halogen::failed(error, HALOGEN_E_INVALID,
                             "logit_bias of token " + std::to_string(bias.token) +
                                 " is not a finite number; -100 bans a token");
    }
    if (bias.token < 0) {
      return halogen::failed(
          error, HALOGEN_E_INVALID,
          "logit_bias names token " + std::to_string(bias.token) + "; token ids are 0 or more");
    }
  }
  return HALOGEN_OK;
}

halogen_status check_biases(const halogen_sampling_parameters& given, uint32_t vocabulary_size,
                            halogen_error* error) {
  for (uint32_t i = 0; i < given.n_biases; i++) {
    if (std::cmp_less(given.biases[i].token, vocabulary_size)) continue;
    return halogen::failed(error, HALOGEN_E_INVALID,
                           "logit_bias names token " + std::to_string(given.biases[i].token) +
                               "; the vocabulary has " + std::to_string(vocabulary_size));
  }
  return HALOGEN_OK;
}

Parameters copy(const halogen_sampling_parameters& given) {
  return {given.seed,
          given.temperature,
          static_cast<uint32_t>(given.top_k),
          given.top_p,
          given.min_p,
          given.repetition_penalty,
          given.presence_penalty,
          given.frequency_penalty,
          given.penalty_window,
          {given.biases, given.biases + given.n_biases}};
}

}  // namespace sampler
