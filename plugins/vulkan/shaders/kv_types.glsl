// Rows of the KV pool in its types (halogen_type ids).
#ifndef HALOGEN_KV_TYPES
#define HALOGEN_KV_TYPES

#include "bits.glsl"

const uint kF32 = 0u, kF16 = 1u, kQ4_0 = 2u, kQ8_0 = 8u;

uint kv_row_bytes(uint type, uint dim) {
  switch (type) {
    case kF32: return 4u * dim;
    case kF16: return 2u * dim;
    case kQ4_0: return dim / 32u * 18u;
    default: return dim / 32u * 34u;
  }
}

// Elements d to d + 3 of a row of `dim`, d being a multiple of 4; zeros past the end.
vec4 kv_load(uint type, uint dim, uint64_t row, uint d) {
  vec4 quad = vec4(0);
  if (type == kF32) {
    [[unroll]] for (uint i = 0u; i < 4u; i++)
      if (d + i < dim) quad[i] = Floats(row).v[d + i];
  } else if (type == kF16) {
    if (dim % 4u == 0u) {
      const uvec2 words = WordPairs(row).v[d / 4u];
      return vec4(unpackHalf2x16(words.x), unpackHalf2x16(words.y));
    }
    [[unroll]] for (uint i = 0u; i < 4u; i++)
      if (d + i < dim) quad[i] = half_value(uint(Halves(row).v[d + i]));
  } else if (type == kQ8_0) {
    Halves block = Halves(row + 34u * (d / 32u));
    const uint at = 1u + d % 32u / 2u;
    quad = signed_bytes(uint(block.v[at]) | uint(block.v[at + 1u]) << 16) * half_value(uint(block.v[0]));
  } else {
    Halves block = Halves(row + 18u * (d / 32u));
    const uint at = 1u + d % 16u / 2u;
    const uint nibbles = uint(block.v[at]) | uint(block.v[at + 1u]) << 16;
    quad = (unsigned_bytes(d % 32u < 16u ? low_nibbles(nibbles) : high_nibbles(nibbles)) - 8.0) *
           half_value(uint(block.v[0]));
  }
  return quad;
}

#endif
