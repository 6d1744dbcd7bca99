// Sums, products, scaling and soft caps. A thread takes an element.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "functions.glsl"

layout(constant_id = 1) const uint OPERATION = 0u;  // Elementwise of shader_interface.h
const uint kAdd = 0u, kMultiply = 1u, kScale = 2u;

layout(push_constant, std430) uniform Constants { ElementwiseConstants p; };

float second(uint row, uint column) {
  return row_of(p.b, row, p.b_stride).v[p.b_columns == p.columns ? column : column % p.b_columns];
}

void main() {
  const uint row = gl_WorkGroupID.y, column = gl_GlobalInvocationID.x;
  if (!in_step(p.count, row) || column >= p.columns) return;
  const float a = row_of(p.a, row, p.a_stride).v[column];
  float result;
  switch (OPERATION) {
    case kAdd: result = a + second(row, column); break;
    case kMultiply: result = a * second(row, column); break;
    case kScale: result = a * p.factor; break;
    default: result = p.factor * tanh_of(a / p.factor); break;
  }
  row_of(p.y, row, p.y_stride).v[column] = result;
}
