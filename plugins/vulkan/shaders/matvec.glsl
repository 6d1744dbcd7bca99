// Weights times a few tokens: bound by reading the weights, which happens once.
//
// A workgroup takes ROWS rows. Its threads share their columns and add up what they have found in the
// end. The shader says where rows come from and go to:
//   uint64_t weight_row(uint row)    Floats input_row(uint token)    void store(token, row, sum)
// and its ROWS, TOKENS and SUBGROUP_FLOOR.
const uint SUBGROUPS = (gl_WorkGroupSize.x + SUBGROUP_FLOOR - 1u) / SUBGROUP_FLOOR;
shared float partial[TOKENS * ROWS * SUBGROUPS];

float sums[TOKENS * ROWS];  // this thread's

#ifdef Q8_INPUTS
#include "add_columns_q8.glsl"
#else
#include "add_columns.glsl"
#endif

// All rows, of tokens first_token to first_token + n_tokens - 1.
void multiply(uint first_token, uint n_tokens) {
  const uint stride = gl_NumWorkGroups.x * ROWS;
  for (uint first_row = gl_WorkGroupID.x * ROWS; first_row < p.rows; first_row += stride) {
    add_columns(first_row, first_token, n_tokens);
    [[unroll]] for (uint i = 0u; i < TOKENS * ROWS; i++) {
      const float sum = subgroupAdd(sums[i]);
      if (subgroupElect()) partial[i * SUBGROUPS + gl_SubgroupID] = sum;
    }
    barrier();
    for (uint i = lane(); i < TOKENS * ROWS; i += gl_WorkGroupSize.x) {
      float total = 0.0;
      for (uint s = 0u; s < gl_NumSubgroups; s++) total += partial[i * SUBGROUPS + s];
      const uint t = i / ROWS, row = first_row + i % ROWS;
      if (t < n_tokens && row < p.rows) store(first_token + t, row, total);
    }
    barrier();
  }
}
