// Conversions between F32 and the short floating-point formats, by integer arithmetic alone.
//
// Implementation header: everything is in an unnamed namespace, because each file that includes it
// is compiled for its own instruction set. With external linkage the linker would keep one of the
// copies, perhaps the AVX2 one, for all. The loops over these functions vectorise.
#pragma once

#include <cstdint>
#include <cstring>

namespace halogen::cpu {
namespace {

inline uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float float_of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Exact for every input; subnormals included.
inline float f16_to_f32(uint16_t half) {
  // The exponent is too small by 127 - 15 = 112 after the shift; the multiplication corrects it and
  // normalises subnormals. Infinities and NaNs need their exponent filled.
  const uint32_t magnitude = static_cast<uint32_t>(half & 0x7fff) << 13;
  uint32_t bits = bits_of(float_of(magnitude) * 0x1p112f);
  bits |= magnitude >= 0x0f800000u ? 0x7f800000u : 0u;
  return float_of(bits | static_cast<uint32_t>(half & 0x8000) << 16);
}

// Rounds to nearest, ties to even; overflow gives infinity, a NaN stays a (quiet) NaN: what the
// F16C instruction does.
inline uint16_t f32_to_f16(float value) {
  const uint32_t bits = bits_of(value);
  const uint32_t magnitude = bits & 0x7fffffffu;
  const uint32_t sign = bits >> 16 & 0x8000u;
  // Below 2^-14 the result is subnormal: adding 0.5 leaves its bits, correctly rounded, at the end
  // of the significand. The operand is limited so that the addition means something in every lane.
  const float small = float_of(magnitude < 0x38800000u ? magnitude : 0u);
  const uint32_t subnormal = bits_of(small + 0.5f) - 0x3f000000u;
  const uint32_t normal = (magnitude + 0xfffu + (magnitude >> 13 & 1u) - (112u << 23)) >> 13;
  const uint32_t special = magnitude > 0x7f800000u ? 0x7e00u | (magnitude >> 13 & 0x3ffu) : 0x7c00u;
  uint32_t half = magnitude < 0x38800000u ? subnormal : normal;
  half = magnitude >= 0x47800000u ? special : half;
  return static_cast<uint16_t>(half | sign);
}

inline float bf16_to_f32(uint16_t brain) {
  return float_of(static_cast<uint32_t>(brain) << 16);
}

// Rounds to nearest, ties to even; a NaN stays a (quiet) NaN.
inline uint16_t f32_to_bf16(float value) {
  const uint32_t bits = bits_of(value);
  const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  const uint32_t quiet = bits >> 16 | 0x40u;
  return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

// Half of 2^(exponent - 127): the MX formats' power-of-two scale, halved because the table of E2M1
// values is stored doubled, as integers.
inline float half_of_e8m0(uint8_t exponent) {
  return float_of(exponent < 2 ? 0x00200000u << exponent
                               : static_cast<uint32_t>(exponent - 1) << 23);
}

}  // namespace
}  // namespace halogen::cpu
