#include "blocks16.glsl"

// Blocks of 32 elements in nibbles: piece j of a block is word j of its nibbles, the low ones being
// elements 4 j to 4 j + 3 and the high ones those 16 further on.
uvec2 piece_columns(uint piece) {
  const uint column = 32u * (piece / 4u) + 4u * (piece % 4u);
  return uvec2(column, column + 16u);
}

// Span: a block; its first half the low nibbles.
uvec2 span_columns(uint span) { return uvec2(32u * span, 32u * span + 16u); }
