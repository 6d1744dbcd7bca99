#include "blocks32.glsl"

void piece_load(uint64_t row, uint columns, uint piece, out vec4 first, out vec4 second) {
  const uint block = 11u * (piece / 4u);
  const uint j = piece % 4u;
  const float scale = half_value(Halves(row).v[block]);
  const uint fifths = word_at(Halves(row), block + 1u) >> 4u * j;
  const uint nibbles = word_at(Halves(row), block + 3u + 2u * j);
  first = (unsigned_bytes(low_nibbles(nibbles) | fifth_bits(fifths & 15u)) - 16.0) * scale;
  second = (unsigned_bytes(high_nibbles(nibbles) | fifth_bits(fifths >> 16 & 15u)) - 16.0) * scale;
}

void span_load(uint64_t row, uint span, out uvec4 first, out uvec4 second, out vec2 scales, out vec2 minima) {
  Halves block = Halves(row + 22u * span);
  const uvec4 nibbles = words_at(block, 3u);
  const uvec4 fifths = uvec4(word_at(block, 1u)) >> uvec4(0, 4, 8, 12);
  first = low_nibbles(nibbles) | fifth_bits(fifths & 15u);
  second = high_nibbles(nibbles) | fifth_bits(fifths >> 16 & 15u);
  scales = vec2(half_value(block.v[0]));
  minima = 16.0 * scales;
}
