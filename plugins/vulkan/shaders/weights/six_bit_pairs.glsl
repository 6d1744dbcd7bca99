// The 8 scales and 8 minima of Q4_K and Q5_K, six bits each, in the three words behind the
// superblock's own pair. The first four of each stand in the lower six bits of the bytes of words 0
// and 1; of the others the lower nibbles stand in word 2 and the upper two bits above the first
// ones.
vec2 scale_and_minimum(uvec3 bytes, uint sub_block) {
  const uint shift = 8u * (sub_block & 3u);
  const uint first = bytes.x >> shift, second = bytes.y >> shift, third = bytes.z >> shift;
  const uvec2 pair = sub_block < 4u ? uvec2(first, second) & 63u
                                    : uvec2((third & 15u) | (first >> 2 & 0x30u),
                                            (third >> 4 & 15u) | (second >> 2 & 0x30u));
  return vec2(pair);
}

// Piece 8 c + j of a superblock: word j of the nibbles of 64 elements, first the low ones.
uvec2 piece_columns(uint piece) {
  const uint column = 64u * (piece / 8u) + 4u * (piece % 8u);
  return uvec2(column, column + 32u);
}

// Span 2 c + h of a superblock: half h of the nibbles of 64 elements.
uvec2 span_columns(uint span) {
  const uint column = 64u * (span / 2u) + 16u * (span % 2u);
  return uvec2(column, column + 32u);
}

void span_scales(uvec4 head, uint chunk, out vec2 scales, out vec2 minima) {
  const vec2 unit = unpackHalf2x16(head.x);
  const vec2 low = unit * scale_and_minimum(head.yzw, 2u * chunk);
  const vec2 high = unit * scale_and_minimum(head.yzw, 2u * chunk + 1u);
  scales = vec2(low.x, high.x);
  minima = vec2(low.y, high.y);
}
