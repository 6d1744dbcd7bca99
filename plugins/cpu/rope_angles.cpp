#include "plugins/cpu/rope_angles.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace halogen::cpu {
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

RopeAngles::RopeAngles(const halogen_rope_attributes& a, const float* factors)
    : frequencies_(a.dims / 2), magnitude_(a.attention_factor) {
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
    frequencies_[i] = static_cast<float>(frequency);
  }
}

void RopeAngles::fill(int32_t position, float* cosine, float* sine) const {
  for (size_t i = 0; i < frequencies_.size(); i++) {
    const double angle = static_cast<double>(position) * static_cast<double>(frequencies_[i]);
    cosine[i] = static_cast<float>(std::cos(angle) * magnitude_);
    sine[i] = static_cast<float>(std::sin(angle) * magnitude_);
  }
}

}  // namespace halogen::cpu
