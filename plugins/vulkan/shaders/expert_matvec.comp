// The chosen expert's matrix times a token, for each choice.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "expert_linear.glsl"

const uint TOKENS = 1u;
layout(constant_id = 1) const uint ROWS = 4u;
layout(constant_id = 2) const uint SUBGROUP_FLOOR = 1u;
#include "matvec.glsl"

void main() {
  const uint token = gl_WorkGroupID.y, choice = gl_WorkGroupID.z;
  if (!in_step(p.count, token)) return;
  expert = uint(Ints(p.ids).v[token * p.choice_stride + choice]);
  multiply(token * p.used + choice, 1u);
}
