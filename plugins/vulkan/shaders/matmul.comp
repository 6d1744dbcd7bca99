// A weight matrix times many tokens.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "linear.glsl"

uint token_of(uint i) { return gl_WorkGroupID.y * 64u + i; }

#include "matmul.glsl"

void main() {
  const uint count = Words(p.count).v[0], first_token = token_of(0u);
  if (first_token < count) multiply(gl_WorkGroupID.x * TILE, min(count - first_token, TILE));
}
