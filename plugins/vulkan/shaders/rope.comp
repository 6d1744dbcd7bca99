// Turns pairs of elements of each head by the angles of the token's position. A workgroup takes a
// head.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(constant_id = 1) const uint PAIRING = 2u;  // halogen_rope_pairing
const uint kAdjacent = 1u;
const uint kAngleRows = 256u;  // as shader_interface.h has it

layout(push_constant, std430) uniform Constants { RopeConstants p; };

// (cos, sin) of the sum of a coarse and a fine angle.
vec2 angle_of(uint position, uint pair) {
  const vec2 fine = FloatPairs(p.fine_angles).v[position % kAngleRows * p.pairs + pair];
  const vec2 coarse = FloatPairs(p.coarse_angles).v[position / kAngleRows * p.pairs + pair];
  return vec2(coarse.x * fine.x - coarse.y * fine.y, coarse.y * fine.x + coarse.x * fine.y);
}

void main() {
  const uint row = gl_WorkGroupID.y;
  if (!in_step(p.count, row)) return;
  const uint position = uint(Ints(p.positions).v[row]);
  const uint head = gl_WorkGroupID.x * p.head_stride;
  Floats x = row_of(p.x, row, p.x_stride);
  Floats y = row_of(p.y, row, p.y_stride);
  for (uint pair = lane(); pair < p.pairs; pair += gl_WorkGroupSize.x) {
    const uint first = head + (PAIRING == kAdjacent ? 2u * pair : pair);
    const uint second = first + (PAIRING == kAdjacent ? 1u : p.pairs);
    const vec2 turn = angle_of(position, pair);
    const vec2 from = vec2(x.v[first], x.v[second]);
    y.v[first] = from.x * turn.x - from.y * turn.y;
    y.v[second] = from.x * turn.y + from.y * turn.x;
  }
  for (uint i = 2u * p.pairs + lane(); i < p.head_dim; i += gl_WorkGroupSize.x)
    y.v[head + i] = x.v[head + i];
}
