#include "blocks32.glsl"
#include "iq4_levels.glsl"
#include "superblocks.glsl"

void piece_load(uint64_t row, uint columns, uint piece, out vec4 first, out vec4 second) {
  Words block = Words(row + 136u * (piece / kSuperblockPieces));
  const uint i = piece % kSuperblockPieces, chunk = i / 4u;
  const uint head = block.v[0];  // the scale, and the upper two bits of the eight of chunks
  const uint low = block.v[1] >> 4u * chunk & 15u;
  const uint high = head >> 16u + 2u * chunk & 3u;
  const float scale = half_value(head & 0xffffu) * (float(low | high << 4) - 32.0);
  const uint nibbles = block.v[2u + i];
  first = iq4_levels(low_nibbles(nibbles)) * scale;
  second = iq4_levels(high_nibbles(nibbles)) * scale;
}
