// Norms over vectors, one of them in each workgroup; with the residual added first where there is
// one.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "q8_rows.glsl"
#include "reduce.glsl"

layout(constant_id = 1) const uint KIND = 1u;  // halogen_norm_kind
const uint kLayer = 2u, kL2 = 3u;

layout(push_constant, std430) uniform Constants { NormConstants p; };

// The element of this workgroup's vector that goes into the norm.
float element(uint column) {
  const uint row = gl_WorkGroupID.y, at = gl_WorkGroupID.x * p.vector_stride + column;
  const float x = row_of(p.x, row, p.x_stride).v[at];
  return p.residual == 0ul ? x : x + row_of(p.residual, row, p.residual_stride).v[at];
}

float normal(uint column, float x, float mean, float root) {
  float y = (x - mean) / root;
  if (p.weight != 0ul) y *= Floats(p.weight).v[column] + p.weight_offset;
  if (p.bias != 0ul) y += Floats(p.bias).v[column];
  return y;
}

void store(uint column, float x, float mean, float root) {
  const uint row = gl_WorkGroupID.y, at = gl_WorkGroupID.x * p.vector_stride + column;
  if (p.sum != 0ul) row_of(p.sum, row, p.sum_stride).v[at] = x;
  if (p.y != 0ul) row_of(p.y, row, p.y_stride).v[at] = normal(column, x, mean, root);
}

void store_q8(uint run, float mean, float root) {
  vec4 quads[4];
  [[unroll]] for (uint i = 0u; i < 16u; i++)
    quads[i / 4u][i % 4u] = normal(16u * run + i, element(16u * run + i), mean, root);
  store_q8_run(uint64_t(row_of(p.q8, gl_WorkGroupID.y, p.q8_stride)), p.columns, run, quads);
}

void main() {
  const uint row = gl_WorkGroupID.y;
  if (!in_step(p.count, row)) return;
  const uint step_size = gl_WorkGroupSize.x;

  float mean = 0.0;
  if (KIND == kLayer) {
    float sum = 0.0;
    for (uint c = lane(); c < p.columns; c += step_size) sum += element(c);
    mean = workgroup_sum(sum) / float(p.columns);
  }
  float squares = 0.0;
  for (uint c = lane(); c < p.columns; c += step_size) {
    const float centred = element(c) - mean;
    squares += centred * centred;
  }
  squares = workgroup_sum(squares);
  const float root = KIND == kL2 ? max(sqrt(squares), p.epsilon)
                                 : sqrt(squares / float(p.columns) + p.epsilon);

  if (p.q8 != 0ul)
    for (uint run = lane(); run < p.columns / 16u; run += step_size) store_q8(run, mean, root);
  barrier();  // what follows may write where the elements come from
  for (uint c = lane(); c < p.columns; c += step_size) store(c, element(c), mean, root);
}
