// Small numbers out of words, and halves by their bits.
#ifndef HALOGEN_BITS
#define HALOGEN_BITS

vec4 unsigned_bytes(uint word) {
  return vec4(word & 0xffu, word >> 8 & 0xffu, word >> 16 & 0xffu, word >> 24);
}

vec4 signed_bytes(uint word) {
  const int w = int(word);
  return vec4(bitfieldExtract(w, 0, 8), bitfieldExtract(w, 8, 8), bitfieldExtract(w, 16, 8), w >> 24);
}

uint low_nibbles(uint word) { return word & 0x0f0f0f0fu; }
uvec4 low_nibbles(uvec4 words) { return words & 0x0f0f0f0fu; }
uint high_nibbles(uint word) { return word >> 4 & 0x0f0f0f0fu; }
uvec4 high_nibbles(uvec4 words) { return words >> 4 & 0x0f0f0f0fu; }

// Bits 0 to 3, each moved to bit 4 of its byte.
uint fifth_bits(uint four) { return (four * 0x00204081u & 0x01010101u) << 4; }
uvec4 fifth_bits(uvec4 fours) { return (fours * 0x00204081u & 0x01010101u) << 4; }

float half_value(uint bits) { return unpackHalf2x16(bits).x; }

// The nearest half, ties to even, in the low 16 bits; packHalf2x16 may round in any direction.
uint half_bits(float value) {
  const uint bits = floatBitsToUint(value);
  const uint magnitude = bits & 0x7fffffffu;
  const uint sign = bits >> 16 & 0x8000u;
  if (magnitude >= 0x47800000u) return sign | (magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u);
  // Adding 0.5 leaves the bits of a subnormal half, rounded, at the end of the significand.
  if (magnitude < 0x38800000u)
    return sign | (floatBitsToUint(uintBitsToFloat(magnitude) + 0.5) - 0x3f000000u);
  return sign | (magnitude + 0xfffu + (magnitude >> 13 & 1u) - (112u << 23)) >> 13;
}

#endif
