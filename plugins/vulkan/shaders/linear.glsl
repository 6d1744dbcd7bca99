// What the matrix products share.
#include "weights.glsl"

layout(push_constant, std430) uniform Constants { LinearConstants p; };

// Row `row` of the weights. Rows past the last one read the last one; nobody stores what they give.
uint64_t weight_row(uint row) { return p.weights + uint64_t(min(row, p.rows - 1u)) * p.row_bytes; }

// Elements `column` to column + 3 of an input row. Only plain weights have rows that end between,
// and what is past the end may be no number.
vec4 input_quad(Floats row, uint column) {
#ifdef PLAIN_WEIGHTS
  if (column + 4u > p.columns) {
    vec4 quad = vec4(0);
    [[unroll]] for (uint i = 0u; i < 4u; i++)
      if (column + i < p.columns) quad[i] = row.v[column + i];
    return quad;
  }
#endif
  return FloatQuads(uint64_t(row)).v[column / 4u];
}

void store(uint token, uint row, float sum) {
  if (p.bias != 0ul) sum += Floats(p.bias).v[row];
  if (p.residual != 0ul) sum += row_of(p.residual, token, p.residual_stride).v[row];
  row_of(p.y, token, p.y_stride).v[row] = sum;
}
