#include "blocks16.glsl"
#include "superblocks.glsl"
#include "two_bit_pairs.glsl"

// 16 scales of six bits with an offset of 32: low nibbles in 8 bytes, upper pairs in 4.
float sub_scale(Halves block, uint sub_block) {
  const uint low = byte_at(block, 96u + sub_block % 8u) >> 4u * (sub_block / 8u);
  const uint high = byte_at(block, 104u + sub_block % 4u) >> 2u * (sub_block / 4u);
  return float((low & 15u) | (high & 3u) << 4) - 32.0;
}

void piece_load(uint64_t row, uint columns, uint piece, out vec4 first, out vec4 second) {
  Halves block = Halves(row + 110u * (piece / kSuperblockPieces));
  const uint i = piece % kSuperblockPieces;
  // Bit j of byte b belongs to element 32 j + b.
  const uint thirds = word_at(block, 2u * (i % 8u)) >> 2u * (i / 8u);
  const uint pairs = word_at(block, 16u + 2u * pairs_word(i)) >> pairs_shift(i);
  const uvec2 sub_block = piece_columns(i) / 16u;
  const float unit = half_value(block.v[54]);
  first = (unsigned_bytes((pairs & 0x03030303u) | (thirds & 0x01010101u) << 2) - 4.0) *
          (unit * sub_scale(block, sub_block.x));
  second = (unsigned_bytes((pairs >> 2 & 0x03030303u) | (thirds >> 1 & 0x01010101u) << 2) - 4.0) *
           (unit * sub_scale(block, sub_block.y));
}

void span_load(uint64_t row, uint span, out uvec4 first, out uvec4 second, out vec2 scales, out vec2 minima) {
  Halves block = Halves(row + 110u * (span / kSuperblockSpans));
  const uint i = span % kSuperblockSpans;
  const uvec4 thirds = words_at(block, 8u * (i % 2u)) >> 2u * (i / 2u);
  const uvec4 pairs = words_at(block, 16u + 2u * span_pairs_word(i)) >> span_pairs_shift(i);
  const uvec2 sub_block = span_columns(i) / 16u;
  first = (pairs & 0x03030303u) | (thirds & 0x01010101u) << 2;
  second = (pairs >> 2 & 0x03030303u) | (thirds >> 1 & 0x01010101u) << 2;
  scales = half_value(block.v[54]) * vec2(sub_scale(block, sub_block.x), sub_scale(block, sub_block.y));
  minima = 4.0 * scales;
}
