// Turns pairs of elements of each head by the angles of the token's position. A workgroup takes a
// head.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const uint PAIRING = 2u;  // halogen_rope_pairing

layout(push_constant, std430) uniform Constants { RopeConstants p; };

#include "angles.glsl"

void main() {
  const uint row = gl_WorkGroupID.y;
  if (!in_step(p.count, row)) return;
  const uint position = uint(Ints(p.positions).v[row]);
  const uint head = gl_WorkGroupID.x * p.head_stride;
  Floats x = row_of(p.x, row, p.x_stride);
  Floats y = row_of(p.y, row, p.y_stride);
  for (uint pair = lane(); pair < p.pairs; pair += gl_WorkGroupSize.x) {
    const uvec2 at = head + pair_elements(PAIRING, pair, p.pairs);
    const vec2 turned = turned_by(angle_of(position, pair), vec2(x.v[at.x], x.v[at.y]));
    y.v[at.x] = turned.x;
    y.v[at.y] = turned.y;
  }
  for (uint i = 2u * p.pairs + lane(); i < p.head_dim; i += gl_WorkGroupSize.x)
    y.v[head + i] = x.v[head + i];
}
