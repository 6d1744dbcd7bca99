#include "plugins/common/rope_frequencies.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace halogen::backends {
namespace {

// YaRN, section 3.2 of the paper: the pair that turns `turns` times over the original context.
double yarn_pair(double turns, const halogen_rope_attributes& a) {
  return a.dims * std::log(a.original_context / (turns * 2 * std::numbers::pi)) /
         (2 * std::log(a.base));
}

double yarn_frequency(double frequency, uint32_t pair, const halogen_rope_attributes& a) {
  double low = yarn_pair(a.beta_fast, a);
  double high = yarn_pair(a.beta_slow, a);
  if (a.yarn_truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, a.dims - 1.0);
  const double ramp = std::clamp((pair - low) / std::max(0.001, high - low), 0.0, 1.0);
  return frequency / a.factor * ramp + frequency * (1 - ramp);
}

// Llama 3.1: wavelengths beyond the original context are stretched, short ones kept, a band
// between.
double llama3_frequency(double frequency, const halogen_rope_attributes& a) {
  const double wavelength = 2 * std::numbers::pi / frequency;
  if (wavelength > a.original_context / a.low_frequency_factor) return frequency / a.factor;
  if (wavelength < a.original_context / a.high_frequency_factor) return frequency;
  const double smooth = (a.original_context / wavelength - a.low_frequency_factor) /
                        (a.high_frequency_factor - a.low_frequency_factor);
  return (1 - smooth) * frequency / a.factor + smooth * frequency;
}

}  // namespace

std::vector<float> rope_frequencies(const halogen_rope_attributes& a, const float* factors) {
  std::vector<float> frequencies(a.dims / 2);
  for (uint32_t i = 0; i < a.dims / 2; i++) {
    double frequency = std::pow(static_cast<double>(a.base), -2.0 * i / a.dims);
    switch (a.scaling) {
      case HALOGEN_ROPE_LINEAR:
        frequency /= a.factor;
        break;
      case HALOGEN_ROPE_YARN:
        frequency = yarn_frequency(frequency, i, a);
        break;
      case HALOGEN_ROPE_LLAMA3:
        frequency = llama3_frequency(frequency, a);
        break;
      case HALOGEN_ROPE_PLAIN:
        break;
    }
    if (factors) frequency /= factors[i];
    frequencies[i] = static_cast<float>(frequency);
  }
  return frequencies;
}

bool same_rotation(const halogen_rope_attributes& a, const halogen_rope_attributes& b) {
  return a.scaling == b.scaling && a.dims == b.dims && a.base == b.base && a.factor == b.factor &&
         a.original_context == b.original_context &&
         a.low_frequency_factor == b.low_frequency_factor &&
         a.high_frequency_factor == b.high_frequency_factor && a.beta_fast == b.beta_fast &&
         a.beta_slow == b.beta_slow && a.attention_factor == b.attention_factor &&
         a.yarn_truncate == b.yarn_truncate;
}

}  // namespace halogen::backends
