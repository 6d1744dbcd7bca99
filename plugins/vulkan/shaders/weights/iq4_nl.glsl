#include "blocks32.glsl"
#include "iq4_levels.glsl"

void piece_load(uint64_t row, uint columns, uint piece, out vec4 first, out vec4 second) {
  const uint block = 9u * (piece / 4u);
  const float scale = half_value(Halves(row).v[block]);
  const uint nibbles = word_at(Halves(row), block + 1u + 2u * (piece % 4u));
  first = signed_bytes(iq4_levels(low_nibbles(nibbles))) * scale;
  second = signed_bytes(iq4_levels(high_nibbles(nibbles))) * scale;
}

void span_load(uint64_t row, uint span, out uvec4 first, out uvec4 second, out vec2 scales, out vec2 minima) {
  Halves block = Halves(row + 18u * span);
  const uvec4 nibbles = words_at(block, 1u);
  first = iq4_levels(low_nibbles(nibbles));
  second = iq4_levels(high_nibbles(nibbles));
  scales = vec2(half_value(block.v[0]));
  minima = vec2(0);
}
