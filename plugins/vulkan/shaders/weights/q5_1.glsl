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

void span_load(uint64_t row, uint span, out uvec4 first, out uvec4 second, out vec2 scales, out vec2 minima) {
  Words block = Words(row + 24u * span);
  const uvec4 nibbles = uvec4(block.v[2], block.v[3], block.v[4], block.v[5]);
  const uvec4 fifths = uvec4(block.v[1]) >> uvec4(0, 4, 8, 12);
  const vec2 scale_and_minimum = unpackHalf2x16(block.v[0]);
  first = low_nibbles(nibbles) | fifth_bits(fifths & 15u);
  second = high_nibbles(nibbles) | fifth_bits(fifths >> 16 & 15u);
  scales = scale_and_minimum.xx;
  minima = -scale_and_minimum.yy;
}
