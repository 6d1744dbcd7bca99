// One matrix for all tokens: where the products' rows come from and go to.
layout(push_constant, std430) uniform Constants { LinearConstants p; };

#include "inputs.glsl"

// Row `row` of the weights. Rows past the last one read the last one; nobody stores what they give.
uint64_t weight_row(uint row) { return p.weights + uint64_t(min(row, p.rows - 1u)) * p.row_bytes; }

Floats input_row(uint token) { return row_of(p.x, token, p.x_stride); }

void store(uint token, uint row, float sum) {
  if (p.bias != 0ul) sum += Floats(p.bias).v[row];
  if (p.residual != 0ul) sum += row_of(p.residual, token, p.residual_stride).v[row];
  row_of(p.y, token, p.y_stride).v[row] = sum;
}
