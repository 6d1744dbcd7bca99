#include "six_bit_pairs.glsl"
#include "superblocks.glsl"

void piece_load(uint64_t row, uint columns, uint piece, out vec4 first, out vec4 second) {
  Words block = Words(row + 144u * (piece / kSuperblockPieces));
  const uint i = piece % kSuperblockPieces, chunk = i / 8u;
  const vec2 unit = unpackHalf2x16(block.v[0]);
  const uvec3 bytes = uvec3(block.v[1], block.v[2], block.v[3]);
  const uint nibbles = block.v[4u + i];
  const vec2 low = unit * scale_and_minimum(bytes, 2u * chunk);
  const vec2 high = unit * scale_and_minimum(bytes, 2u * chunk + 1u);
  first = unsigned_bytes(low_nibbles(nibbles)) * low.x - low.y;
  second = unsigned_bytes(high_nibbles(nibbles)) * high.x - high.y;
}

void span_load(uint64_t row, uint span, out uvec4 first, out uvec4 second, out vec2 scales, out vec2 minima) {
  WordQuads block = WordQuads(row + 144u * (span / kSuperblockSpans));
  const uint i = span % kSuperblockSpans;
  const uvec4 nibbles = block.v[1u + i];
  first = low_nibbles(nibbles);
  second = high_nibbles(nibbles);
  span_scales(block.v[0], i / 2u, scales, minima);
}
