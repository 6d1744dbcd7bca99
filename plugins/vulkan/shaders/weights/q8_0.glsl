#include "blocks16.glsl"

uvec2 piece_columns(uint piece) { return uvec2(8u * piece, 8u * piece + 4u); }

void piece_load(uint64_t row, uint columns, uint piece, out vec4 first, out vec4 second) {
  Halves block = Halves(row + 34u * (piece / 4u));
  const uint at = 1u + 4u * (piece % 4u);
  const float scale = half_value(block.v[0]);
  first = signed_bytes(word_at(block, at)) * scale;
  second = signed_bytes(word_at(block, at + 2u)) * scale;
}

uvec2 span_columns(uint span) { return uvec2(32u * span, 32u * span + 16u); }

void span_load(uint64_t row, uint span, out uvec4 first, out uvec4 second, out vec2 scales, out vec2 minima) {
  Halves block = Halves(row + 34u * span);
  first = words_at(block, 1u);
  second = words_at(block, 9u);
  scales = vec2(half_value(block.v[0]));
  minima = vec2(0);
}
