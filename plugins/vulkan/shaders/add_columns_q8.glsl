// Adds to `sums` what this thread's columns give: spans of inputs that quantise_q8 has made signed
// bytes, four products at a time in integers.
#include "dot4.glsl"
#include "q8_inputs.glsl"

int dot16(uvec4 a, uvec4 b) { return dot4(a.x, b.x) + dot4(a.y, b.y) + dot4(a.z, b.z) + dot4(a.w, b.w); }

void add_columns(uint first_row, uint first_token, uint n_tokens) {
  [[unroll]] for (uint i = 0u; i < TOKENS * ROWS; i++) sums[i] = 0.0;
  for (uint span = lane(); span < p.columns / 32u; span += gl_WorkGroupSize.x) {
    const uvec2 run = span_columns(span) / 16u;
    uvec4 first[ROWS], second[ROWS];
    vec2 scales[ROWS], minima[ROWS];
    [[unroll]] for (uint r = 0u; r < ROWS; r++)
      span_load(weight_row(first_row + r), span, first[r], second[r], scales[r], minima[r]);
    [[unroll]] for (uint t = 0u; t < TOKENS; t++) {
      // Past the last token the first one is read again.
      const uint64_t x = uint64_t(input_row(first_token + (t < n_tokens ? t : 0u)));
      const uvec4 x_first = q8_codes(x, run.x), x_second = q8_codes(x, run.y);
      const vec2 x_scales = q8_scale_and_sum(x, p.columns, run.x);
      const vec2 y_scales = q8_scale_and_sum(x, p.columns, run.y);
      [[unroll]] for (uint r = 0u; r < ROWS; r++) {
        const vec2 products = vec2(dot16(first[r], x_first), dot16(second[r], x_second));
        sums[t * ROWS + r] += dot(scales[r] * vec2(x_scales.x, y_scales.x), products) -
                              dot(minima[r], vec2(x_scales.y, y_scales.y));
      }
    }
  }
}
