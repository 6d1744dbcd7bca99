// The non-uniform levels of IQ4_NL and IQ4_XS: -127 -104 -83 -65 -49 -35 -22 -10 1 13 25 38 53 69 89
// 113, as signed bytes.
int iq4_level(uint index) {
  const uint low = index < 4u ? 0xbfad9881u : 0xf6eaddcfu;
  const uint high = index < 12u ? 0x26190d01u : 0x71594535u;
  return bitfieldExtract(int(index < 8u ? low : high), 8 * int(index & 3u), 8);
}

// Of the four nibbles that stand in the bytes of a word.
vec4 iq4_levels(uint nibbles) {
  return vec4(iq4_level(nibbles & 15u), iq4_level(nibbles >> 8 & 15u), iq4_level(nibbles >> 16 & 15u),
              iq4_level(nibbles >> 24 & 15u));
}
