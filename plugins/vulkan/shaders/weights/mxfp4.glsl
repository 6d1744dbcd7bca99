#include "blocks32.glsl"

// E2M1: 0 0.5 1 1.5 2 3 4 6, doubled to be the digits of a hexadecimal number; as a signed byte.
uint e2m1_doubled(uint code) {
  const uint magnitude = 0xc8643210u >> 4u * (code & 7u) & 15u;
  return (code & 8u) != 0u ? 256u - magnitude & 0xffu : magnitude;
}

// Each byte's nibble, made the byte of its value.
uint e2m1_doubled_bytes(uint nibbles) {
  return e2m1_doubled(nibbles & 15u) | e2m1_doubled(nibbles >> 8 & 15u) << 8 |
         e2m1_doubled(nibbles >> 16 & 15u) << 16 | e2m1_doubled(nibbles >> 24 & 15u) << 24;
}

// 2^(exponent - 128): half of what the E8M0 exponent says. The two smallest are subnormal.
float half_of_e8m0(uint exponent) {
  return uintBitsToFloat(exponent < 2u ? 0x00200000u << exponent : (exponent - 1u) << 23);
}

uint nibbles_at(Bytes block, uint word) {
  const uint at = 1u + 4u * word;
  return uint(block.v[at]) | uint(block.v[at + 1u]) << 8 | uint(block.v[at + 2u]) << 16 |
         uint(block.v[at + 3u]) << 24;
}

void piece_load(uint64_t row, uint columns, uint piece, out vec4 first, out vec4 second) {
  Bytes block = Bytes(row + 17u * (piece / 4u));
  const float scale = half_of_e8m0(uint(block.v[0]));
  const uint nibbles = nibbles_at(block, piece % 4u);
  first = signed_bytes(e2m1_doubled_bytes(low_nibbles(nibbles))) * scale;
  second = signed_bytes(e2m1_doubled_bytes(high_nibbles(nibbles))) * scale;
}

void span_load(uint64_t row, uint span, out uvec4 first, out uvec4 second, out vec2 scales, out vec2 minima) {
  Bytes block = Bytes(row + 17u * span);
  [[unroll]] for (uint i = 0u; i < 4u; i++) {
    const uint nibbles = nibbles_at(block, i);
    first[i] = e2m1_doubled_bytes(low_nibbles(nibbles));
    second[i] = e2m1_doubled_bytes(high_nibbles(nibbles));
  }
  scales = vec2(half_of_e8m0(uint(block.v[0])));
  minima = vec2(0);
}
