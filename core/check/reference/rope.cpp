// Rotary embedding (Su et al. 2021, arXiv:2104.09864) and its scalings.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/check/reference/operators.h"

namespace halogen::reference {
namespace {

// YaRN (arXiv:2309.00071), section 3.2: pairs that turn often within the original context keep
// their frequency, those that turn seldom get it divided by the factor, with a ramp between.
double yarn(double frequency, uint32_t pair, const halogen_rope_attributes& a) {
  const auto pair_of = [&](double turns) {
    return a.dims * std::log(a.original_context / (turns * 2 * std::numbers::pi)) /
           (2 * std::log(static_cast<double>(a.base)));
  };
  double first = pair_of(a.beta_fast), last = pair_of(a.beta_slow);
  if (a.yarn_truncate != 0) {
    first = std::floor(first);
    last = std::ceil(last);
  }
  first = std::max(first, 0.0);
  last = std::min(last, a.dims - 1.0);
  const double interpolated = std::clamp((pair - first) / std::max(last - first, 0.001), 0.0, 1.0);
  return interpolated * frequency / a.factor + (1 - interpolated) * frequency;
}

// Llama 3.1's rule, by how often a pair turns within the original context.
double llama3(double frequency, const halogen_rope_attributes& a) {
  const double turns = a.original_context * frequency / (2 * std::numbers::pi);
  if (turns < a.low_frequency_factor) return frequency / a.factor;
  if (turns > a.high_frequency_factor) return frequency;
  const double kept = (turns - a.low_frequency_factor) /
                      (static_cast<double>(a.high_frequency_factor) - a.low_frequency_factor);
  return kept * frequency + (1 - kept) * frequency / a.factor;
}

double frequency_of(uint32_t pair, const Tensor* factors, const halogen_rope_attributes& a) {
  double frequency = std::pow(static_cast<double>(a.base), -2.0 * pair / a.dims);
  if (a.scaling == HALOGEN_ROPE_LINEAR) frequency /= a.factor;
  if (a.scaling == HALOGEN_ROPE_YARN) frequency = yarn(frequency, pair, a);
  if (a.scaling == HALOGEN_ROPE_LLAMA3) frequency = llama3(frequency, a);
  return factors ? frequency / factors->values[pair] : frequency;
}

}  // namespace

Tensor rope(const Tensor& x, std::span<const int32_t> positions, const Tensor* factors,
            const halogen_rope_attributes& a, Precision precision) {
  Tensor result = x;
  const size_t heads = x.dims[1], size = x.dims[2];
  const bool adjacent = a.pairing == HALOGEN_ROPE_ADJACENT;
  for (size_t t = 0; t < positions.size(); t++) {
    for (uint32_t pair = 0; pair < a.dims / 2; pair++) {
      const double angle = positions[t] * frequency_of(pair, factors, a);
      const double cosine = std::cos(angle) * a.attention_factor;
      const double sine = std::sin(angle) * a.attention_factor;
      // A frequency in 32 bits, from a power, and its product with the position.
      const double angle_error = 4 * kUnit32 * std::fabs(angle);
      const double unit =
          (angle_error + 6 * storage_unit(precision)) * std::fabs(a.attention_factor);
      for (size_t h = 0; h < heads; h++) {
        const size_t head = (t * heads + h) * size;
        const size_t i = head + (adjacent ? 2 * pair : pair);
        const size_t j = head + (adjacent ? 2 * pair + 1 : pair + a.dims / 2);
        const double error = (x.errors[i] + x.errors[j]) * std::fabs(a.attention_factor) +
                             unit * (std::fabs(x.values[i]) + std::fabs(x.values[j]));
        result.set(i, x.values[i] * cosine - x.values[j] * sine, error);
        result.set(j, x.values[i] * sine + x.values[j] * cosine, error);
      }
    }
  }
  return result;
}

}  // namespace halogen::reference
