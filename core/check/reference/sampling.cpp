#include "core/check/reference/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace halogen::reference {

TokenRow::TokenRow(const std::vector<float>& logits) {
  constexpr double kMost = std::numeric_limits<float>::max();
  for (size_t i = 0; i < logits.size(); i++) {
    const double logit = std::min(double{logits[i]}, kMost);
    if (!std::isnan(logits[i]) && logit > -HUGE_VAL)
      held_.push_back({static_cast<int32_t>(i), logit});
  }
  std::sort(held_.begin(), held_.end());
}

std::map<int32_t, double> TokenRow::probabilities() const {
  std::map<int32_t, double> result;
  const std::vector<double> p = softmax();
  for (size_t i = 0; i < held_.size(); i++) result[held_[i].token] = p[i];
  return result;
}

double TokenRow::behind_best(int32_t token) const {
  for (const Held& held : held_)
    if (held.token == token) return held_[0].logit - held.logit;
  return std::numeric_limits<double>::infinity();
}

template <typename Change>
void TokenRow::change(int32_t token, Change to) {
  for (Held& held : held_)
    if (held.token == token) held.logit = to(held.logit);
  std::sort(held_.begin(), held_.end());
}

void TokenRow::divide(int32_t token, double penalty) {
  change(token, [=](double logit) { return logit > 0 ? logit / penalty : logit * penalty; });
}

void TokenRow::subtract(int32_t token, double penalty) {
  change(token, [=](double logit) { return logit - penalty; });
}

void TokenRow::temperature(double t) {
  for (Held& held : held_) held.logit /= t;
}

void TokenRow::dynamic_temperature(double t, double range, double exponent) {
  if (held_.size() < 2) return;
  const double share = entropy() / std::log(static_cast<double>(held_.size()));
  const double least = std::max(0.0, t - range);
  temperature(least + (t + range - least) * std::pow(share, exponent));
}

void TokenRow::top_k(size_t k) {
  held_.resize(std::min(k, held_.size()));
}

void TokenRow::top_n_sigma(double n) {
  double mean = 0, variance = 0;
  for (const Held& held : held_) mean += held.logit / static_cast<double>(held_.size());
  for (const Held& held : held_)
    variance += (held.logit - mean) * (held.logit - mean) / static_cast<double>(held_.size());
  const double bound = held_[0].logit - n * std::sqrt(variance);
  std::erase_if(held_, [&](const Held& held) { return held.logit < bound; });
}

void TokenRow::top_p(double p) {
  keep_until(p, softmax());
}

void TokenRow::min_p(double share) {
  const double bound = held_[0].logit + std::log(share);
  std::erase_if(held_, [&](const Held& held) { return held.logit < bound; });
}

void TokenRow::typical_p(double tau) {
  const double expected = entropy();
  const std::vector<double> p = softmax();
  std::vector<std::pair<double, size_t>> order;  // by distance, then the better one
  for (size_t i = 0; i < p.size(); i++) order.emplace_back(std::abs(-std::log(p[i]) - expected), i);
  std::sort(order.begin(), order.end());
  std::vector<Held> sorted;
  std::vector<double> weights;
  for (const auto& [distance, i] : order) {
    sorted.push_back(held_[i]);
    weights.push_back(p[i]);
  }
  held_ = sorted;
  keep_until(tau, weights);
  std::sort(held_.begin(), held_.end());
}

void TokenRow::xtc(double threshold) {
  const std::vector<double> p = softmax();
  size_t above = 0;
  while (above < p.size() && p[above] >= threshold) above++;
  if (above >= 2) held_.erase(held_.begin(), held_.begin() + static_cast<ptrdiff_t>(above) - 1);
}

void TokenRow::mirostat(double bits) {
  const std::vector<double> p = softmax();
  size_t kept = 0;
  while (kept < p.size() && -std::log2(p[kept]) <= bits) kept++;
  top_k(std::max<size_t>(kept, 1));
}

std::vector<double> TokenRow::softmax() const {
  std::vector<double> p;
  double sum = 0;
  for (const Held& held : held_) sum += std::exp(held.logit - held_[0].logit);
  for (const Held& held : held_) p.push_back(std::exp(held.logit - held_[0].logit) / sum);
  return p;
}

double TokenRow::entropy() const {
  double sum = 0;
  for (const double p : softmax())
    if (p > 0) sum -= p * std::log(p);
  return sum;
}

void TokenRow::keep_until(double goal, const std::vector<double>& weights) {
  double sum = 0;
  size_t kept = 0;
  while (kept < held_.size() && (kept == 0 || sum < goal)) sum += weights[kept++];
  held_.resize(kept);
}

void run_stage(TokenRow& row, uint32_t stage, const halogen_sampling_parameters& p,
               bool excluding) {
  switch (stage) {
    case HALOGEN_STAGE_TOP_N_SIGMA:
      if (p.top_n_sigma > 0) row.top_n_sigma(p.top_n_sigma);
      break;
    case HALOGEN_STAGE_TOP_K:
      if (p.top_k > 0) row.top_k(static_cast<size_t>(p.top_k));
      break;
    case HALOGEN_STAGE_TEMPERATURE:
      if (p.dynatemp_range > 0)
        row.dynamic_temperature(p.temperature, p.dynatemp_range, p.dynatemp_exponent);
      else
        row.temperature(p.temperature);
      break;
    case HALOGEN_STAGE_TYPICAL_P:
      if (p.typical_p < 1) row.typical_p(p.typical_p);
      break;
    case HALOGEN_STAGE_TOP_P:
      if (p.top_p < 1) row.top_p(p.top_p);
      break;
    case HALOGEN_STAGE_MIN_P:
      if (p.min_p > 0) row.min_p(p.min_p);
      break;
    case HALOGEN_STAGE_XTC:
      if (excluding) row.xtc(p.xtc_threshold);
      break;
    default:
      break;
  }
}

std::map<int32_t, uint32_t> dry_matches(const std::vector<int32_t>& context,
                                        uint32_t allowed_length, int32_t last_n,
                                        const std::vector<std::vector<int32_t>>& breakers) {
  std::vector<int32_t> window = context;
  if (last_n >= 0 && window.size() > static_cast<size_t>(last_n))
    window.erase(window.begin(), window.end() - last_n);
  const auto breaks = [&](size_t end) {  // a breaker ends with the token before `end`
    return std::any_of(breakers.begin(), breakers.end(), [&](const auto& breaker) {
      return breaker.size() <= end &&
             std::equal(breaker.begin(), breaker.end(),
                        window.begin() + static_cast<ptrdiff_t>(end - breaker.size()));
    });
  };
  size_t reach = 0;  // tokens since the last breaker
  while (reach < window.size() && !breaks(window.size() - reach)) reach++;
  std::map<int32_t, uint32_t> found;
  for (size_t next = 1; next < window.size(); next++) {
    uint32_t length = 0;
    while (length < reach && length < next &&
           window[next - 1 - length] == window[window.size() - 1 - length])
      length++;
    const bool single = std::find(breakers.begin(), breakers.end(),
                                  std::vector<int32_t>{window[next]}) != breakers.end();
    if (length == 0 || length < allowed_length || single) continue;
    found[window[next]] = std::max(found[window[next]], length);
  }
  return found;
}

halogen_sampling_parameters plain_parameters() {
  halogen_sampling_parameters parameters{};
  parameters.struct_size = offsetof(halogen_sampling_parameters, biases) + sizeof parameters.biases;
  parameters.temperature = 1;
  parameters.top_p = 1;
  parameters.repetition_penalty = 1;
  parameters.penalty_window = -1;
  return parameters;
}

halogen_sampling_parameters stages_off() {
  halogen_sampling_parameters parameters = plain_parameters();
  parameters.struct_size = sizeof parameters;
  parameters.typical_p = 1;
  parameters.xtc_threshold = 1;
  parameters.dynatemp_exponent = 1;
  parameters.mirostat_tau = 5;
  parameters.mirostat_eta = 0.1F;
  parameters.dry_base = 1.75F;
  parameters.dry_allowed_length = 2;
  parameters.dry_penalty_last_n = -1;
  return parameters;
}

}  // namespace halogen::reference
