#include "blocks32.glsl"

void piece_load(uint64_t row, uint columns, uint piece, out vec4 first, out vec4 second) {
  const uint block = 9u * (piece / 4u);
  const float scale = half_value(Halves(row).v[block]);
  const uint nibbles = word_at(Halves(row), block + 1u + 2u * (piece % 4u));
  first = (unsigned_bytes(low_nibbles(nibbles)) - 8.0) * scale;
  second = (unsigned_bytes(high_nibbles(nibbles)) - 8.0) * scale;
}

void span_load(uint64_t row, uint span, out uvec4 first, out uvec4 second, out vec2 scales, out vec2 minima) {
  Halves block = Halves(row + 18u * span);
  const uvec4 nibbles = words_at(block, 1u);
  first = low_nibbles(nibbles);
  second = high_nibbles(nibbles);
  scales = vec2(half_value(block.v[0]));
  minima = 8.0 * scales;
}
