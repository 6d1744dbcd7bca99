// A weight matrix times a few tokens; grid y goes on to further ones.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "linear.glsl"

layout(constant_id = 1) const uint TOKENS = 1u;
layout(constant_id = 2) const uint ROWS = 4u;
layout(constant_id = 3) const uint SUBGROUP_FLOOR = 1u;
#include "matvec.glsl"

void main() {
  const uint count = Words(p.count).v[0], first_token = gl_WorkGroupID.y * TOKENS;
  if (first_token < count) multiply(first_token, min(count - first_token, TOKENS));
}
