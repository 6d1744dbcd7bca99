#include "blocks32.glsl"
#include "iq4_levels.glsl"
#include "superblocks.glsl"

// Words 0 and 1: the scale and the upper two bits of those of the eight chunks, then their lower four.
float chunk_scale(uint head, uint low, uint chunk) {
  const uint lower = low >> 4u * chunk & 15u, upper = head >> 16u + 2u * chunk & 3u;
  return half_value(head & 0xffffu) * (float(lower | upper << 4) - 32.0);
}

void piece_load(uint64_t row, uint columns, uint piece, out vec4 first, out vec4 second) {
  Words block = Words(row + 136u * (piece / kSuperblockPieces));
  const uint i = piece % kSuperblockPieces;
  const float scale = chunk_scale(block.v[0], block.v[1], i / 4u);
  const uint nibbles = block.v[2u + i];
  first = signed_bytes(iq4_levels(low_nibbles(nibbles))) * scale;
  second = signed_bytes(iq4_levels(high_nibbles(nibbles))) * scale;
}

void span_load(uint64_t row, uint span, out uvec4 first, out uvec4 second, out vec2 scales, out vec2 minima) {
  Words block = Words(row + 136u * (span / kSuperblockSpans));
  const uint chunk = span % kSuperblockSpans, at = 2u + 4u * chunk;
  const uvec4 nibbles = uvec4(block.v[at], block.v[at + 1u], block.v[at + 2u], block.v[at + 3u]);
  first = iq4_levels(low_nibbles(nibbles));
  second = iq4_levels(high_nibbles(nibbles));
  scales = vec2(chunk_scale(block.v[0], block.v[1], chunk));
  minima = vec2(0);
}
