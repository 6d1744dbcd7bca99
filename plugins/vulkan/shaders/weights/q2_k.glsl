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
