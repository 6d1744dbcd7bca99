// A weight matrix times many tokens, with cooperative matrices.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "linear.glsl"

const uint TOKENS = 128u;  // of a tile

uint token_of(uint i) { return gl_WorkGroupID.y * TOKENS + i; }

#include "matmul_cooperative.glsl"

void main() {
  const uint count = Words(p.count).v[0], first_token = token_of(0u);
  if (first_token < count) multiply(gl_WorkGroupID.x * TILE, min(count - first_token, TOKENS));
}
