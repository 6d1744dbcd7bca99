#include "core/check/sampler/expected.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>

#include "core/check/sampler/session.h"

namespace halogen::check {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr float kBan = -100.0F;

using Parameters = halogen_sampling_parameters;

// The parameters with what their writer did not know switched off.
Parameters known(const Parameters& given) {
  if (HALOGEN_HAS(&given, reserved)) return given;
  Parameters all = stages_off();
  std::memcpy(&all, &given, offsetof(Parameters, typical_p));
  all.struct_size = sizeof all;
  return all;
}

std::vector<uint32_t> stages_of(const Parameters& p) {
  if (p.stages) return {p.stages, p.stages + p.n_stages};
  std::vector<uint32_t> all(HALOGEN_STAGE_XTC);
  std::iota(all.begin(), all.end(), uint32_t{HALOGEN_STAGE_PENALTIES});
  return all;
}

reference::TokenRow start(std::vector<float> logits, const Parameters& p,
                          const std::vector<uint32_t>& mask) {
  constexpr float kImpossible = -std::numeric_limits<float>::infinity();
  for (uint32_t i = 0; i < p.n_biases; i++) {
    float& logit = logits[static_cast<size_t>(p.biases[i].token)];
    logit = p.biases[i].bias <= kBan ? kImpossible : logit + p.biases[i].bias;
  }
  for (size_t token = 0; !mask.empty() && token < logits.size(); token++)
    if ((mask[token / 32] >> (token % 32) & 1) == 0) logits[token] = kImpossible;
  return reference::TokenRow(logits);
}

void penalise(reference::TokenRow& row, const Parameters& p, const History& history) {
  std::vector<int32_t> all = history.prompt;
  all.insert(all.end(), history.generated.begin(), history.generated.end());
  const size_t window = p.penalty_window < 0
                            ? all.size()
                            : std::min<size_t>(static_cast<size_t>(p.penalty_window), all.size());
  std::map<int32_t, size_t> generated;  // of the tokens that are seen, how often
  for (size_t i = all.size() - window; i < all.size(); i++)
    generated[all[i]] += i >= history.prompt.size() ? 1 : 0;
  for (const auto& [token, count] : generated) {
    row.divide(token, p.repetition_penalty);
    if (count > 0)
      row.subtract(token, p.presence_penalty + p.frequency_penalty * static_cast<double>(count));
  }
}

void avoid_repetitions(reference::TokenRow& row, const Parameters& p, const History& history) {
  std::vector<int32_t> context = history.prompt;
  context.insert(context.end(), history.generated.begin(), history.generated.end());
  std::vector<std::vector<int32_t>> breakers(1);
  for (uint32_t i = 0; i < p.n_dry_breakers; i++) {
    if (p.dry_breakers[i] < 0)
      breakers.emplace_back();
    else
      breakers.back().push_back(p.dry_breakers[i]);
  }
  breakers.pop_back();
  for (const auto& [token, length] :
       reference::dry_matches(context, p.dry_allowed_length, p.dry_penalty_last_n, breakers))
    row.subtract(token, p.dry_multiplier * std::pow(p.dry_base, length - p.dry_allowed_length));
}

void change_logits(reference::TokenRow& row, uint32_t stage, const Parameters& p,
                   const History& history) {
  if (stage == HALOGEN_STAGE_PENALTIES) penalise(row, p, history);
  if (stage == HALOGEN_STAGE_DRY && p.dry_multiplier > 0) avoid_repetitions(row, p, history);
}

reference::TokenRow after_all_stages(const std::vector<float>& logits, const Parameters& p,
                                     const Circumstances& circumstances, bool excluding) {
  reference::TokenRow row = start(logits, p, circumstances.mask);
  for (const uint32_t stage : stages_of(p)) {
    change_logits(row, stage, p, circumstances.history);
    if (p.mirostat != 2 || stage == HALOGEN_STAGE_TEMPERATURE)
      reference::run_stage(row, stage, p, excluding);
  }
  if (p.mirostat == 2)
    row.mirostat(circumstances.mirostat_limit.value_or(2 * double{p.mirostat_tau}));
  return row;
}

// The value below which chi-squared stays but for a share of 3e-7, five deviations (Wilson and
// Hilferty 1931).
double chi_squared_limit(double freedom) {
  const double a = 2 / (9 * freedom);
  return freedom * std::pow(1 - a + 5 * std::sqrt(a), 3);
}

}  // namespace

reference::TokenRow adjusted_row(const std::vector<float>& logits, const Parameters& given,
                                 const Circumstances& circumstances) {
  const Parameters p = known(given);
  reference::TokenRow row = start(logits, p, circumstances.mask);
  for (const uint32_t stage : stages_of(p)) change_logits(row, stage, p, circumstances.history);
  return row;
}

std::vector<double> probabilities(const std::vector<float>& logits, const Parameters& given,
                                  const Circumstances& circumstances) {
  const Parameters p = known(given);
  const double often = p.mirostat == 2 ? 0 : p.xtc_probability;
  std::vector<double> result(logits.size());
  for (const bool excluding : {false, true}) {
    const double share = excluding ? often : 1 - often;
    if (share == 0) continue;
    for (const auto& [token, probability] :
         after_all_stages(logits, p, circumstances, excluding).probabilities())
      result[static_cast<size_t>(token)] += share * probability;
  }
  return result;
}

std::vector<double> log_probabilities(const std::vector<float>& logits) {
  const double most = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - most);
  std::vector<double> result;
  for (const float logit : logits) result.push_back(logit - most - std::log(sum));
  return result;
}

double chi_squared_share(const std::vector<size_t>& counts,
                         const std::vector<double>& probabilities) {
  const auto draws = static_cast<double>(std::accumulate(counts.begin(), counts.end(), size_t{0}));
  double statistic = 0, rare_expected = 0, rare_count = 0, cells = 0;
  const auto add = [&](double count, double expected) {
    statistic += (count - expected) * (count - expected) / expected;
    cells++;
  };
  for (size_t i = 0; i < counts.size(); i++) {
    const double expected = draws * probabilities[i];
    const auto count = static_cast<double>(counts[i]);
    if (probabilities[i] == 0) {
      if (counts[i] > 0) return kInfinity;
    } else if (expected < 5) {
      rare_expected += expected;
      rare_count += count;
    } else {
      add(count, expected);
    }
  }
  if (rare_expected >= 1) add(rare_count, rare_expected);
  // One cell that holds everything is met exactly.
  return cells < 2 ? 0 : statistic / chi_squared_limit(cells - 1);
}

}  // namespace halogen::check
