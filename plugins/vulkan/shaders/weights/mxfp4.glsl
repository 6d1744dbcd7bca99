#include "blocks32.glsl"

// E2M1: 0 0.5 1 1.5 2 3 4 6, doubled to be the digits of a hexadecimal number.
float e2m1_doubled(uint code) {
  const float magnitude = float(0xc8643210u >> 4u * (code & 7u) & 15u);
  return (code & 8u) != 0u ? -magnitude : magnitude;
}

vec4 four_e2m1_doubled(uint nibbles) {
  return vec4(e2m1_doubled(nibbles & 15u), e2m1_doubled(nibbles >> 8 & 15u),
              e2m1_doubled(nibbles >> 16 & 15u), e2m1_doubled(nibbles >> 24 & 15u));
}

// 2^(exponent - 128): half of what the E8M0 exponent says. The two smallest are subnormal.
float half_of_e8m0(uint exponent) {
  return uintBitsToFloat(exponent < 2u ? 0x00200000u << exponent : (exponent - 1u) << 23);
}

void piece_load(uint64_t row, uint columns, uint piece, out vec4 first, out vec4 second) {
  Bytes block = Bytes(row + 17u * (piece / 4u));
  const uint at = 1u + 4u * (piece % 4u);
  const float scale = half_of_e8m0(uint(block.v[0]));
  const uint nibbles = uint(block.v[at]) | uint(block.v[at + 1u]) << 8 | uint(block.v[at + 2u]) << 16 |
                       uint(block.v[at + 3u]) << 24;
  first = four_e2m1_doubled(low_nibbles(nibbles)) * scale;
  second = four_e2m1_doubled(high_nibbles(nibbles)) * scale;
}
