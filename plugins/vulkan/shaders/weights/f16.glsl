vec2 two_floats(uint word) { return unpackHalf2x16(word); }

#include "plain16.glsl"
