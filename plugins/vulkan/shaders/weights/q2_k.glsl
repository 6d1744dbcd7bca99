#include "superblocks.glsl"
#include "two_bit_pairs.glsl"

void piece_load(uint64_t row, uint columns, uint piece, out vec4 first, out vec4 second) {
  Words block = Words(row + 84u * (piece / kSuperblockPieces));
  const uint i = piece % kSuperblockPieces;
  const uint pairs = block.v[4u + pairs_word(i)] >> pairs_shift(i);
  const uvec2 sub_block = piece_columns(i) / 16u;
  const uint low = block.v[sub_block.x / 4u] >> 8u * (sub_block.x % 4u);
  const uint high = block.v[sub_block.y / 4u] >> 8u * (sub_block.y % 4u);
  const vec2 unit = unpackHalf2x16(block.v[20]);
  first = unsigned_bytes(pairs & 0x03030303u) * (unit.x * float(low & 15u)) -
          unit.y * float(low >> 4 & 15u);
  second = unsigned_bytes(pairs >> 2 & 0x03030303u) * (unit.x * float(high & 15u)) -
           unit.y * float(high >> 4 & 15u);
}

void span_load(uint64_t row, uint span, out uvec4 first, out uvec4 second, out vec2 scales, out vec2 minima) {
  Words block = Words(row + 84u * (span / kSuperblockSpans));
  const uint i = span % kSuperblockSpans, at = 4u + span_pairs_word(i);
  const uvec4 pairs =
      uvec4(block.v[at], block.v[at + 1u], block.v[at + 2u], block.v[at + 3u]) >> span_pairs_shift(i);
  const uvec2 sub_block = span_columns(i) / 16u;
  const uvec2 packed_scales = uvec2(block.v[sub_block.x / 4u] >> 8u * (sub_block.x % 4u),
                                    block.v[sub_block.y / 4u] >> 8u * (sub_block.y % 4u));
  const vec2 unit = unpackHalf2x16(block.v[20]);
  first = pairs & 0x03030303u;
  second = pairs >> 2 & 0x03030303u;
  scales = unit.x * vec2(packed_scales & 15u);
  minima = unit.y * vec2(packed_scales >> 4 & 15u);
}
