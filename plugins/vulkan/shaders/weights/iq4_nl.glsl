#include "blocks32.glsl"
#include "iq4_levels.glsl"

void piece_load(uint64_t row, uint columns, uint piece, out vec4 first, out vec4 second) {
  const uint block = 9u * (piece / 4u);
  const float scale = half_value(Halves(row).v[block]);
  const uint nibbles = word_at(Halves(row), block + 1u + 2u * (piece % 4u));
  first = iq4_levels(low_nibbles(nibbles)) * scale;
  second = iq4_levels(high_nibbles(nibbles)) * scale;
}
