// The stored types as real numbers, written from the formats' descriptions and for clarity alone.
//
// Sources: the GGUF and ggml documentation for the Q, IQ4 and TQ types; the OCP Microscaling
// Formats specification 1.0 for E2M1 and E8M0 (MXFP4); NVIDIA's description of NVFP4 (E2M1 under an
// unsigned E4M3 scale for every 16).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "halogen/types.h"

namespace halogen::reference {

// [any] Types that dequantise() knows: all that have no codebook of vectors (IQ1 to IQ3 have one).
const std::vector<halogen_type>& known_types();
bool is_known(halogen_type type);

// [any] Every element of `n` (whole blocks) as a real number. `magnitudes`, where it isn't null,
// gets the sum of the absolute values of the terms that make up the element (scale * q and
// minimum), which is what the rounding of a float implementation is relative to. False: the type is
// not known.
bool dequantise(halogen_type type, const void* row, size_t n, double* values,
                double* magnitudes = nullptr);

// [any] The value of a half and of a bfloat16.
double half_value(uint16_t bits);
double bfloat16_value(uint16_t bits);
// [any] The nearest half, ties to even.
uint16_t nearest_half(double value);

}  // namespace halogen::reference
