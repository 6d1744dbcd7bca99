// The same as activate, with results that are signed bytes. A thread takes a run of 16 columns.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "activation.glsl"
#include "q8_rows.glsl"

void main() {
  const uint row = gl_WorkGroupID.y, run = gl_GlobalInvocationID.x;
  if (!in_step(p.count, row) || run >= p.columns / 16u) return;
  FloatQuads gates = FloatQuads(uint64_t(row_of(p.gate, row, p.gate_stride)));
  FloatQuads ups = FloatQuads(uint64_t(row_of(p.up, row, p.up_stride)));
  vec4 quads[4];
  [[unroll]] for (uint i = 0u; i < 4u; i++) {
    const vec4 gate = gates.v[4u * run + i];
    const vec4 up = p.up == 0ul ? vec4(1) : ups.v[4u * run + i];
    quads[i] = vec4(gated(gate.x, up.x), gated(gate.y, up.y), gated(gate.z, up.z), gated(gate.w, up.w));
  }
  store_q8_run(uint64_t(row_of(p.y, row, p.y_stride)), p.columns, run, quads);
}
