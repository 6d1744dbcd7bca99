// Activation functions, alone or times a second input. A thread takes an element.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "activation.glsl"

void main() {
  const uint row = gl_WorkGroupID.y, column = gl_GlobalInvocationID.x;
  if (!in_step(p.count, row) || column >= p.columns) return;
  const float gate = row_of(p.gate, row, p.gate_stride).v[column];
  const float up = p.up == 0ul ? 1.0 : row_of(p.up, row, p.up_stride).v[column];
  row_of(p.y, row, p.y_stride).v[column] = gated(gate, up);
}
