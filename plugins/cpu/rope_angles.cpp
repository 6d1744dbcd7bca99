#include "plugins/cpu/rope_angles.h"

#include <cmath>

#include "plugins/common/rope_frequencies.h"

namespace halogen::cpu {

RopeAngles::RopeAngles(const halogen_rope_attributes& attributes, const float* factors)
    : frequencies_(backends::rope_frequencies(attributes, factors)),
      magnitude_(attributes.attention_factor) {}

void RopeAngles::fill(int32_t position, float* cosine, float* sine) const {
  for (size_t i = 0; i < frequencies_.size(); i++) {
    const double angle = static_cast<double>(position) * static_cast<double>(frequencies_[i]);
    cosine[i] = static_cast<float>(std::cos(angle) * magnitude_);
    sine[i] = static_cast<float>(std::sin(angle) * magnitude_);
  }
}

}  // namespace halogen::cpu
