// Copies rows, chosen or all, in one or several runs. A thread takes an element.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(push_constant, std430) uniform Constants { CopyConstants p; };

void main() {
  const uint row = gl_WorkGroupID.y, run = gl_WorkGroupID.z, column = gl_GlobalInvocationID.x;
  if (!in_step(p.count, row) || column >= p.columns) return;
  const uint from = p.rows == 0ul ? row : uint(Ints(p.rows).v[row]);
  row_of(p.y, row, p.y_stride).v[run * p.y_run_stride + column] =
      row_of(p.x, from, p.x_stride).v[run * p.x_run_stride + column];
}
