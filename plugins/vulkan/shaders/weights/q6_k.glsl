#include "blocks16.glsl"
#include "superblocks.glsl"

// Piece 16 h + j of a superblock: word j of the nibbles of half h, the low ones being elements
// 4 j to 4 j + 3 of its 128 and the high ones those 64 further on.
uvec2 piece_columns(uint piece) {
  const uint column = 128u * (piece / 16u) + 4u * (piece % 16u);
  return uvec2(column, column + 64u);
}

float sub_scale(Halves block, uint sub_block) {
  return float(bitfieldExtract(int(byte_at(block, 192u + sub_block)), 0, 8));
}

void piece_load(uint64_t row, uint columns, uint piece, out vec4 first, out vec4 second) {
  Halves block = Halves(row + 210u * (piece / kSuperblockPieces));
  const uint i = piece % kSuperblockPieces, half_block = i / 16u, j = i % 16u;
  const uint nibbles = word_at(block, 2u * i);
  // The upper two bits: 128 elements in 32 bytes, elements 32 c + b in bits 2 c and 2 c + 1 of byte b.
  const uint pairs = word_at(block, 64u + 16u * half_block + 2u * (j % 8u)) >> 2u * (j / 8u);
  const uint sub_block = 8u * half_block + j / 4u;
  const float unit = half_value(block.v[104]);
  first = (unsigned_bytes(low_nibbles(nibbles) | (pairs & 0x03030303u) << 4) - 32.0) *
          (unit * sub_scale(block, sub_block));
  second = (unsigned_bytes(high_nibbles(nibbles) | (pairs >> 4 & 0x03030303u) << 4) - 32.0) *
           (unit * sub_scale(block, sub_block + 4u));
}

// Span 4 h + g of a superblock: words 4 g to 4 g + 3 of the nibbles of half h.
uvec2 span_columns(uint span) {
  const uint column = 128u * (span / 4u) + 16u * (span % 4u);
  return uvec2(column, column + 64u);
}

void span_load(uint64_t row, uint span, out uvec4 first, out uvec4 second, out vec2 scales, out vec2 minima) {
  Halves block = Halves(row + 210u * (span / kSuperblockSpans));
  const uint i = span % kSuperblockSpans, half_block = i / 4u, g = i % 4u;
  const uvec4 nibbles = words_at(block, 8u * i);
  const uvec4 pairs = words_at(block, 64u + 16u * half_block + 8u * (g % 2u)) >> 2u * (g / 2u);
  const uint sub_block = 8u * half_block + g;
  first = low_nibbles(nibbles) | (pairs & 0x03030303u) << 4;
  second = high_nibbles(nibbles) | (pairs >> 4 & 0x03030303u) << 4;
  scales = half_value(block.v[104]) * vec2(sub_scale(block, sub_block), sub_scale(block, sub_block + 4u));
  minima = 32.0 * scales;
}
