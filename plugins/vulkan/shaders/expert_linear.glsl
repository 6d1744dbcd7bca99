// A matrix for each expert: where the products' rows come from and go to. What the products call a
// token is a choice here, t * used + c.
layout(push_constant, std430) uniform Constants { ExpertLinearConstants p; };

#include "inputs.glsl"

uint expert;  // this workgroup's

// Rows past the last one read the last one; nobody stores what they give.
uint64_t weight_row(uint row) {
  return p.weights + expert * p.expert_bytes + uint64_t(min(row, p.rows - 1u)) * p.row_bytes;
}

Floats input_row(uint choice) {
  const uint64_t row = uint64_t(row_of(p.x, choice / p.used, p.x_stride));
  return row_of(row, choice % p.used, p.x_choice_stride);
}

void store(uint choice, uint row, float sum) {
  if (p.bias != 0ul) sum += row_of(p.bias, expert, p.rows).v[row];
  const uint64_t y = uint64_t(row_of(p.y, choice / p.used, p.y_stride));
  row_of(y, choice % p.used, p.y_choice_stride).v[row] = sum;
}
