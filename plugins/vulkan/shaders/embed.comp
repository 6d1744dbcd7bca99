// Rows of the embedding table, dequantised. A thread takes a piece of a row.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "weights.glsl"

layout(push_constant, std430) uniform Constants { EmbedConstants p; };

void store(Floats y, uint column, vec4 values) {
  [[unroll]] for (uint i = 0u; i < 4u; i++)
    if (column + i < p.columns) y.v[column + i] = values[i] * p.scale;
}

void main() {
  const uint row = gl_WorkGroupID.y, piece = gl_GlobalInvocationID.x;
  if (!in_step(p.count, row) || piece >= pieces_of(p.columns)) return;
  const uint id = uint(Ints(p.ids).v[row]);
  vec4 first, second;
  piece_load(p.table + uint64_t(id) * p.row_bytes, p.columns, piece, first, second);
  const uvec2 at = piece_columns(piece);
  Floats y = row_of(p.y, row, p.y_stride);
  store(y, at.x, first);
  store(y, at.y, second);
}
