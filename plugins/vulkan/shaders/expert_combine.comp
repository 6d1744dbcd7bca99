// What a token's experts say, by their weights, and the residual. A thread takes an element.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(push_constant, std430) uniform Constants { CombineConstants p; };

void main() {
  const uint token = gl_WorkGroupID.y, column = gl_GlobalInvocationID.x;
  if (!in_step(p.count, token) || column >= p.columns) return;
  Floats x = row_of(p.x, token, p.x_stride);
  Floats weights = row_of(p.weights, token, p.choice_stride);
  float sum = 0.0;
  for (uint choice = 0u; choice < p.used; choice++)
    sum += weights.v[choice] * x.v[choice * p.x_choice_stride + column];
  if (p.residual != 0ul) sum += row_of(p.residual, token, p.residual_stride).v[column];
  row_of(p.y, token, p.y_stride).v[column] = sum;
}
