// Seeded random vectors and stored weights. Any bytes are valid codes and sub-block scales in every
// quantised format, so blocks are random bytes with sensible values where the format has floats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "halogen/types.h"

namespace halogen::reference {

std::vector<float> random_floats(size_t n, std::mt19937& random, float deviation = 1.0f);

// `n` elements (whole blocks) of a known type; plain types get the given deviation.
std::vector<uint8_t> random_weights(halogen_type type, size_t n, std::mt19937& random,
                                    float deviation = 0.05f);

}  // namespace halogen::reference
