// The angles by which positions rotate q and k.
#pragma once

#include <cstdint>
#include <vector>

#include "halogen/graph.h"

namespace halogen::cpu {

// One rotation, shared by all layers that use it: angle of pair i at position p is p *
// frequencies[i].
class RopeAngles {
 public:
  // `factors` divides the frequencies, [dims / 2], or null.
  RopeAngles(const halogen_rope_attributes& attributes, const float* factors);

  uint32_t pairs() const { return static_cast<uint32_t>(frequencies_.size()); }

  // cos and sin of all pairs at a position, times the attention factor; each [pairs()].
  void fill(int32_t position, float* cosine, float* sine) const;

 private:
  std::vector<float>
      frequencies_;  // radians per position; F32, as the reference implementations hold them
  double magnitude_;
};

}  // namespace halogen::cpu
