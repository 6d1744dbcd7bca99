// How fast each pair of a rotary embedding turns.
#pragma once

#include <vector>

#include "halogen/graph.h"

namespace halogen::backends {

// [any] Radians per position of each pair, [dims / 2]; F32, as the reference implementations hold
// them. `factors` divides them, [dims / 2], or null.
std::vector<float> rope_frequencies(const halogen_rope_attributes& attributes,
                                    const float* factors);

// [any] Whether two rotations turn alike; their pairing does not count.
bool same_rotation(const halogen_rope_attributes& a, const halogen_rope_attributes& b);

}  // namespace halogen::backends
