// exp, tanh and what is made of them: straight-line code without branches or table look-ups, so
// that a loop over it vectorises, and without fused operations, so that it gives the same bits
// everywhere.
//
// Implementation header: in an unnamed namespace, see float_formats.h.
#pragma once

#include "plugins/cpu/kernels/float_formats.h"

namespace halogen::cpu {
namespace {

// Adding 1.5 * 2^23 rounds a float below 2^22 to an integer, nearest even, and leaves that integer
// in the low bits.
inline constexpr float kRoundingShift = 12582912.0f;
inline constexpr uint32_t kRoundingShiftBits = 0x4b400000u;

// e^x = 2^n * e^r with |r| <= ln(2) / 2. The polynomial (fitted at Chebyshev nodes) is
// within 1.1e-8 of e^r; rounding makes that 2e-7. 2^n is applied in two factors, so that results
// may be subnormal.
inline float exp_of(float x) {
  x = x < -105.0f ? -105.0f : x;  // comparisons leave a NaN as it is
  x = x > 89.0f ? 89.0f : x;
  const float shifted = x * 1.44269504f + kRoundingShift;
  const float n = shifted - kRoundingShift;
  const auto integer = static_cast<int32_t>(bits_of(shifted) - kRoundingShiftBits);
  const float r = (x - n * 0x1.62e4p-1f) - n * 1.42860677e-6f;  // ln(2) = 0x1.62e4p-1 + 1.4286e-6
  float p = 0.0013933733571f;
  p = p * r + 0.0083632357418f;
  p = p * r + 0.0416664630175f;
  p = p * r + 0.1666657626629f;
  p = p * r + 0.5f;
  p = (p * r) * r + r;
  const uint32_t half = static_cast<uint32_t>(integer >> 1);
  const uint32_t rest = static_cast<uint32_t>(integer) - half;
  return (1.0f + p) * float_of((half + 127u) << 23) * float_of((rest + 127u) << 23);
}

// Below 0.625 an odd polynomial (fitted at Chebyshev nodes, within 2e-8), beyond it 1 - 2 / (e^2x +
// 1).
inline float tanh_of(float x) {
  const float magnitude = float_of(bits_of(x) & 0x7fffffffu);
  const float square = magnitude * magnitude;
  float p = -0.0061045382172f;
  p = p * square + 0.0210033617914f;
  p = p * square - 0.0538524389267f;
  p = p * square + 0.1333278119564f;
  p = p * square - 0.3333332836628f;
  const float near = magnitude + magnitude * square * p;
  const float far = 1.0f - 2.0f / (exp_of(2.0f * magnitude) + 1.0f);
  const float result = magnitude < 0.625f ? near : far;
  return float_of(bits_of(result) | (bits_of(x) & 0x80000000u));
}

inline float sigmoid_of(float x) {
  return 1.0f / (1.0f + exp_of(-x));
}
inline float silu_of(float x) {
  return x / (1.0f + exp_of(-x));
}

// x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2, written as x * sigmoid(2 * ...), which has
// no cancellation for negative x.
inline float gelu_tanh_of(float x) {
  const float inner = 1.59576912f * (x + 0.044715f * x * x * x);
  return x / (1.0f + exp_of(-inner));
}

}  // namespace
}  // namespace halogen::cpu
