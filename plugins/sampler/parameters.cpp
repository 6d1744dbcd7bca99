#include "parameters.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "halogen/cxx/plugin.hpp"

namespace sampler {

namespace {

constexpr halogen_sampling_stage kDefaultChain[] = {
    HALOGEN_STAGE_PENALTIES, HALOGEN_STAGE_DRY,         HALOGEN_STAGE_TOP_N_SIGMA,
    HALOGEN_STAGE_TOP_K,     HALOGEN_STAGE_TEMPERATURE, HALOGEN_STAGE_TYPICAL_P,
    HALOGEN_STAGE_TOP_P,     HALOGEN_STAGE_MIN_P,       HALOGEN_STAGE_XTC};

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

// The parameters with what the writer did not know switched off. All members of ABI 1.1 came
// together, so the last of them tells.
halogen_sampling_parameters whole(const halogen_sampling_parameters& given) {
  halogen_sampling_parameters known{};
  known.typical_p = 1;
  known.xtc_threshold = 1;
  known.dynatemp_exponent = 1;
  known.dry_base = 1;
  std::memcpy(&known, &given,
              HALOGEN_HAS(&given, reserved) ? sizeof known
                                            : offsetof(halogen_sampling_parameters, typical_p));
  return known;
}

halogen_status check_biases(const halogen_sampling_parameters& given, halogen_error* error) {
  for (uint32_t i = 0; i < given.n_biases; i++) {
    const halogen_logit_bias& bias = given.biases[i];
    if (std::isnan(bias.bias) || bias.bias > std::numeric_limits<float>::max()) {
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

halogen_status check_chain(const halogen_sampling_parameters& given, halogen_error* error) {
  if (given.stages == nullptr) return HALOGEN_OK;
  for (uint32_t i = 0; i < given.n_stages; i++) {
    const uint32_t stage = given.stages[i];
    if (stage < HALOGEN_STAGE_PENALTIES || stage > HALOGEN_STAGE_XTC) {
      return halogen::failed(error, HALOGEN_E_INVALID,
                             "samplers has a stage of number " + std::to_string(stage) +
                                 ", which this sampler does not know");
    }
    if (std::find(given.stages, given.stages + i, stage) != given.stages + i) {
      return halogen::failed(error, HALOGEN_E_INVALID,
                             "samplers has stage " + std::to_string(stage) + " twice");
    }
  }
  return HALOGEN_OK;
}

// Whether a stage changes anything.
bool acts(halogen_sampling_stage stage, const Parameters& parameters) {
  switch (stage) {
    case HALOGEN_STAGE_PENALTIES:
      return parameters.penalty_window != 0 &&
             (parameters.repetition_penalty != 1 || parameters.presence_penalty != 0 ||
              parameters.frequency_penalty != 0);
    case HALOGEN_STAGE_DRY:
      return parameters.dry_multiplier > 0 && parameters.dry_penalty_last_n != 0;
    default:
      break;
  }
  if (parameters.temperature == 0) return false;
  if (stage == HALOGEN_STAGE_TEMPERATURE)
    return parameters.temperature != 1 || parameters.dynatemp_range > 0;
  if (parameters.mirostat) return false;
  switch (stage) {
    case HALOGEN_STAGE_TOP_N_SIGMA:
      return parameters.top_n_sigma > 0;
    case HALOGEN_STAGE_TOP_K:
      return parameters.top_k > 0;
    case HALOGEN_STAGE_TYPICAL_P:
      return parameters.typical_p < 1;
    case HALOGEN_STAGE_TOP_P:
      return parameters.top_p < 1;
    case HALOGEN_STAGE_MIN_P:
      return parameters.min_p > 0;
    case HALOGEN_STAGE_XTC:
      // Two tokens of more than a half each there cannot be.
      return parameters.xtc_probability > 0 && parameters.xtc_threshold <= 0.5;
    default:
      return false;
  }
}

}  // namespace

bool Parameters::has(halogen_sampling_stage stage) const {
  return std::find(chain.begin(), chain.end(), stage) != chain.end();
}

halogen_status check(const halogen_sampling_parameters& given, halogen_error* error) {
  if (!HALOGEN_HAS(&given, biases)) {
    return halogen::failed(
        error, HALOGEN_E_INVALID,
        "the sampling parameters are of an older layout than this sampler reads");
  }
  const halogen_sampling_parameters all = whole(given);
  constexpr double kHuge = std::numeric_limits<float>::max();
  const Range ranges[] = {
      {"temperature", all.temperature, 0, kHuge, "0 or more"},
      {"top_k", static_cast<double>(all.top_k), 0, kHuge, "0 (off) or more"},
      {"top_p", all.top_p, 0, 1, "from 0 to 1"},
      {"min_p", all.min_p, 0, 1, "from 0 to 1"},
      {"repetition_penalty", all.repetition_penalty, std::numeric_limits<float>::min(), kHuge,
       "above 0"},
      {"presence_penalty", all.presence_penalty, -kHuge, kHuge, "finite"},
      {"frequency_penalty", all.frequency_penalty, -kHuge, kHuge, "finite"},
      {"penalty_window", static_cast<double>(all.penalty_window), -1, kHuge,
       "-1 (all tokens) or more"},
      {"typical_p", all.typical_p, 0, 1, "from 0 to 1"},
      {"top_n_sigma", all.top_n_sigma, -kHuge, kHuge, "finite"},
      {"xtc_probability", all.xtc_probability, 0, 1, "from 0 to 1"},
      {"xtc_threshold", all.xtc_threshold, 0, 1, "from 0 to 1"},
      {"dynatemp_range", all.dynatemp_range, 0, kHuge, "0 (off) or more"},
      {"dynatemp_exponent", all.dynatemp_exponent, 0, kHuge, "0 or more"},
      {"mirostat", static_cast<double>(all.mirostat), 0, 2, "0 (off) or 2"},
      {"mirostat_tau", all.mirostat_tau, 0, kHuge, "0 or more"},
      {"mirostat_eta", all.mirostat_eta, 0, kHuge, "0 or more"},
      {"dry_multiplier", all.dry_multiplier, 0, kHuge, "0 (off) or more"},
      {"dry_base", all.dry_base, 1, kHuge, "1 or more"},
      {"dry_penalty_last_n", static_cast<double>(all.dry_penalty_last_n), -1, kHuge,
       "-1 (all tokens) or more"},
  };
  for (const Range& range : ranges) {
    // Written so that a value that is not a number fails as well.
    if (range.value >= range.least && range.value <= range.most) continue;
    return halogen::failed(
        error, HALOGEN_E_INVALID,
        std::string(range.name) + " is " + number(range.value) + "; it must be " + range.allowed);
  }
  if (all.mirostat == 1) {
    return halogen::failed(error, HALOGEN_E_UNSUPPORTED,
                           "mirostat 1 is not supported; mirostat 2 aims at the same surprise");
  }
  const halogen_status status = check_biases(all, error);
  return status == HALOGEN_OK ? check_chain(all, error) : status;
}

halogen_status check_tokens(const halogen_sampling_parameters& given, uint32_t vocabulary_size,
                            halogen_error* error) {
  for (uint32_t i = 0; i < given.n_biases; i++) {
    if (std::cmp_less(given.biases[i].token, vocabulary_size)) continue;
    return halogen::failed(error, HALOGEN_E_INVALID,
                           "logit_bias names token " + std::to_string(given.biases[i].token) +
                               "; the vocabulary has " + std::to_string(vocabulary_size));
  }
  const halogen_sampling_parameters all = whole(given);
  for (uint32_t i = 0; i < all.n_dry_breakers; i++) {
    const int32_t token = all.dry_breakers[i];
    if (token >= -1 && (token == -1 || std::cmp_less(token, vocabulary_size))) continue;
    return halogen::failed(error, HALOGEN_E_INVALID,
                           "a sequence breaker has token " + std::to_string(token) +
                               "; the vocabulary has " + std::to_string(vocabulary_size));
  }
  if (all.n_dry_breakers > 0 && all.dry_breakers[all.n_dry_breakers - 1] != -1)
    return halogen::failed(error, HALOGEN_E_INVALID, "the last sequence breaker lacks its -1");
  return HALOGEN_OK;
}

Parameters copy(const halogen_sampling_parameters& given) {
  const halogen_sampling_parameters all = whole(given);
  Parameters parameters{};
  parameters.seed = all.seed;
  parameters.temperature = all.temperature;
  parameters.top_k = static_cast<uint32_t>(all.top_k);
  parameters.top_p = all.top_p;
  parameters.min_p = all.min_p;
  parameters.repetition_penalty = all.repetition_penalty;
  parameters.presence_penalty = all.presence_penalty;
  parameters.frequency_penalty = all.frequency_penalty;
  parameters.penalty_window = all.penalty_window;
  parameters.biases.assign(all.biases, all.biases + all.n_biases);
  parameters.typical_p = all.typical_p;
  parameters.top_n_sigma = all.top_n_sigma;
  parameters.xtc_probability = all.xtc_probability;
  parameters.xtc_threshold = all.xtc_threshold;
  parameters.dynatemp_range = all.dynatemp_range;
  parameters.dynatemp_exponent = all.dynatemp_exponent;
  parameters.mirostat = all.mirostat == 2;
  parameters.mirostat_tau = all.mirostat_tau;
  parameters.mirostat_eta = all.mirostat_eta;
  parameters.dry_multiplier = all.dry_multiplier;
  parameters.dry_base = all.dry_base;
  parameters.dry_allowed_length = all.dry_allowed_length;
  parameters.dry_penalty_last_n = all.dry_penalty_last_n;

  std::vector<halogen_sampling_stage> wanted(std::begin(kDefaultChain), std::end(kDefaultChain));
  if (all.stages != nullptr) {
    wanted.clear();
    for (uint32_t i = 0; i < all.n_stages; i++)
      wanted.push_back(static_cast<halogen_sampling_stage>(all.stages[i]));
  }
  for (const halogen_sampling_stage stage : wanted)
    if (acts(stage, parameters)) parameters.chain.push_back(stage);
  return parameters;
}

std::span<const int32_t> dry_breakers(const halogen_sampling_parameters& given) {
  const halogen_sampling_parameters all = whole(given);
  return {all.dry_breakers, all.n_dry_breakers};
}

}  // namespace sampler
