#include "core/engine/step_costs.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace halogen {
namespace {

constexpr uint32_t kFirstPrefill = 128;
constexpr double kNoise = 0.1;          // deviation of a step's time, as a share of it
constexpr double kChange = 0.02;        // by which a cost may change from step to step
constexpr double kChangeOfSpeed = 0.1;  // by which all may change after a step that surprised
constexpr double kMostSurprise = 3;     // deviations that one step can count as
constexpr double kLongContext = 4096;   // where attention may cost as much as all else

}  // namespace

StepCosts::Vector StepCosts::amounts(const StepWork& work) {
  Vector amounts{};
  amounts[kStep] = 1;
  amounts[kPrefillToken] = work.prefill_tokens;
  amounts[kDecodeToken] = work.decodes;
  amounts[kPrefillContext] = work.prefill_context;
  amounts[kDecodeContext] = work.decode_context;
  return amounts;
}

// Before anything is known each cost is 0, give or take what it could be at most by the first step:
// prompts cost by their tokens, decodes by the weights that are read once.
void StepCosts::begin(double duration_us, const StepWork& work) {
  const double token_us = duration_us / (work.prefill_tokens + work.decodes);
  const double weights_us = work.prefill_tokens > 0 ? duration_us / 4 : duration_us;
  first_deviation_[kStep] = weights_us;
  first_deviation_[kPrefillToken] = token_us;
  first_deviation_[kDecodeToken] = weights_us / 2;
  first_deviation_[kPrefillContext] = token_us / kLongContext;
  first_deviation_[kDecodeContext] = weights_us / kLongContext;
  for (size_t i = 0; i < kParts; i++) variance_[i][i] = first_deviation_[i] * first_deviation_[i];
  begun_ = true;
}

// What took part in this step may have changed since the last one. After a surprise all may have
// changed together: the machine became slower or faster.
void StepCosts::expect_change(const Vector& amounts) {
  for (size_t i = 0; i < kParts; i++) {
    if (amounts[i] == 0) continue;
    const double scale = std::max(costs_[i], 0.1 * first_deviation_[i]);
    const double most = std::max(costs_[i], first_deviation_[i]);
    if (variance_[i][i] < most * most) variance_[i][i] += std::pow(kChange * scale, 2);
  }
  if (!surprised_) return;
  for (size_t i = 0; i < kParts; i++)
    for (size_t j = 0; j < kParts; j++)
      variance_[i][j] += std::pow(kChangeOfSpeed, 2) * costs_[i] * costs_[j];
}

void StepCosts::measured(double duration_us, const StepWork& work) {
  if (duration_us <= 0 || work.prefill_tokens + work.decodes == 0) return;
  if (!begun_) begin(duration_us, work);
  const Vector x = amounts(work);
  expect_change(x);

  Vector covariance{};  // of each cost with the step's time
  for (size_t i = 0; i < kParts; i++)
    covariance[i] = std::inner_product(x.begin(), x.end(), variance_[i].begin(), 0.0);
  const double expected_us = of(work);
  const double scale_us = expected_us > 0 ? std::min(duration_us, 2 * expected_us) : duration_us;
  const double variance = std::pow(kNoise * scale_us, 2) +
                          std::inner_product(x.begin(), x.end(), covariance.begin(), 0.0);
  const double most = kMostSurprise * std::sqrt(variance);
  const double surprise = duration_us - expected_us;
  surprised_ = std::abs(surprise) > most;
  const double lesson = std::clamp(surprise, -most, most) / variance;
  for (size_t i = 0; i < kParts; i++) {
    costs_[i] = std::max(0.0, costs_[i] + covariance[i] * lesson);
    for (size_t j = 0; j < kParts; j++) variance_[i][j] -= covariance[i] * covariance[j] / variance;
  }
}

double StepCosts::of(const StepWork& work) const {
  const Vector x = amounts(work);
  return std::inner_product(x.begin(), x.end(), costs_.begin(), 0.0);
}

uint32_t StepCosts::prefill_tokens_within(double budget_us, uint32_t most) const {
  if (prefill_token_us() == 0) return std::min(kFirstPrefill, most);
  const double tokens = (budget_us - step_us()) / prefill_token_us();
  return static_cast<uint32_t>(std::clamp(tokens, 1.0, static_cast<double>(most)));
}

}  // namespace halogen
