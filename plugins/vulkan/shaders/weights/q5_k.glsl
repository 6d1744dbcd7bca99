#include "six_bit_pairs.glsl"
#include "superblocks.glsl"

void piece_load(uint64_t row, uint columns, uint piece, out vec4 first, out vec4 second) {
  Words block = Words(row + 176u * (piece / kSuperblockPieces));
  const uint i = piece % kSuperblockPieces, chunk = i / 8u;
  const vec2 unit = unpackHalf2x16(block.v[0]);
  const uvec3 bytes = uvec3(block.v[1], block.v[2], block.v[3]);
  // Bit j of byte b belongs to element 32 j + b.
  const uint fifths = block.v[4u + i % 8u] >> 2u * chunk;
  const uint nibbles = block.v[12u + i];
  const vec2 low = unit * scale_and_minimum(bytes, 2u * chunk);
  const vec2 high = unit * scale_and_minimum(bytes, 2u * chunk + 1u);
  first = unsigned_bytes(low_nibbles(nibbles) | (fifths & 0x01010101u) << 4) * low.x - low.y;
  second = unsigned_bytes(high_nibbles(nibbles) | (fifths >> 1 & 0x01010101u) << 4) * high.x - high.y;
}

void span_load(uint64_t row, uint span, out uvec4 first, out uvec4 second, out vec2 scales, out vec2 minima) {
  WordQuads block = WordQuads(row + 176u * (span / kSuperblockSpans));
  const uint i = span % kSuperblockSpans;
  const uvec4 nibbles = block.v[3u + i], fifths = block.v[1u + i % 2u] >> 2u * (i / 2u);
  first = low_nibbles(nibbles) | (fifths & 0x01010101u) << 4;
  second = high_nibbles(nibbles) | (fifths >> 1 & 0x01010101u) << 4;
  span_scales(block.v[0], i / 2u, scales, minima);
}
