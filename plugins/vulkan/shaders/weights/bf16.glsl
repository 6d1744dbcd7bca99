vec2 two_floats(uint word) { return uintBitsToFloat(uvec2(word << 16, word & 0xffff0000u)); }

#include "plain16.glsl"
