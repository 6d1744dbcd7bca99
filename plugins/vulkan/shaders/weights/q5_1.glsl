#include "blocks32.glsl"

void piece_load(uint64_t row, uint columns, uint piece, out vec4 first, out vec4 second) {
  const uint block = 6u * (piece / 4u);
  const uint j = piece % 4u;
  const vec2 scale_and_minimum = unpackHalf2x16(Words(row).v[block]);
  const uint fifths = Words(row).v[block + 1u] >> 4u * j;
  const uint nibbles = Words(row).v[block + 2u + j];
  first = unsigned_bytes(low_nibbles(nibbles) | fifth_bits(fifths & 15u)) * scale_and_minimum.x +
          scale_and_minimum.y;
  second = unsigned_bytes(high_nibbles(nibbles) | fifth_bits(fifths >> 16 & 15u)) * scale_and_minimum.x +
           scale_and_minimum.y;
}
