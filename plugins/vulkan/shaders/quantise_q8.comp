// Makes inputs signed bytes. A thread takes a run of 16 columns.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "q8_rows.glsl"

layout(push_constant, std430) uniform Constants { QuantiseConstants p; };

void main() {
  const uint row = gl_WorkGroupID.y, run = gl_GlobalInvocationID.x;
  if (!in_step(p.count, row) || run >= p.columns / 16u) return;
  FloatQuads x = FloatQuads(uint64_t(row_of(p.x, row, p.x_stride)));
  vec4 quads[4];
  [[unroll]] for (uint i = 0u; i < 4u; i++) quads[i] = x.v[4u * run + i];
  store_q8_run(uint64_t(row_of(p.y, row, p.y_stride)), p.columns, run, quads);
}
