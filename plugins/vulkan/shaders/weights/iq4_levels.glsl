// The non-uniform levels of IQ4_NL and IQ4_XS: -127 -104 -83 -65 -49 -35 -22 -10 1 13 25 38 53 69 89
// 113, as signed bytes.
uint iq4_level(uint index) {
  const uint low = index < 4u ? 0xbfad9881u : 0xf6eaddcfu;
  const uint high = index < 12u ? 0x26190d01u : 0x71594535u;
  return (index < 8u ? low : high) >> 8u * (index & 3u) & 0xffu;
}

// Each byte's nibble, made the byte of its level.
uint iq4_levels(uint nibbles) {
  return iq4_level(nibbles & 15u) | iq4_level(nibbles >> 8 & 15u) << 8 |
         iq4_level(nibbles >> 16 & 15u) << 16 | iq4_level(nibbles >> 24 & 15u) << 24;
}
uvec4 iq4_levels(uvec4 nibbles) {
  return uvec4(iq4_levels(nibbles.x), iq4_levels(nibbles.y), iq4_levels(nibbles.z), iq4_levels(nibbles.w));
}
