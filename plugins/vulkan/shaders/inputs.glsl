// Quads of the products' inputs, to meet those of weights. Needs push constants p with `columns`.
#include "weights.glsl"

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
