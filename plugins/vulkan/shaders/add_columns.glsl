// Adds to `sums` what this thread's columns give: pieces of F32 inputs.
void add_columns(uint first_row, uint first_token, uint n_tokens) {
  [[unroll]] for (uint i = 0u; i < TOKENS * ROWS; i++) sums[i] = 0.0;
  const uint pieces = pieces_of(p.columns);
  for (uint piece = lane(); piece < pieces; piece += gl_WorkGroupSize.x) {
    const uvec2 at = piece_columns(piece);
    vec4 first[ROWS], second[ROWS];
    [[unroll]] for (uint r = 0u; r < ROWS; r++)
      piece_load(weight_row(first_row + r), p.columns, piece, first[r], second[r]);
    [[unroll]] for (uint t = 0u; t < TOKENS; t++) {
      // Past the last token the first one is read again.
      Floats x = input_row(first_token + (t < n_tokens ? t : 0u));
      const vec4 x_first = input_quad(x, at.x), x_second = input_quad(x, at.y);
      [[unroll]] for (uint r = 0u; r < ROWS; r++)
        sums[t * ROWS + r] += dot(first[r], x_first) + dot(second[r], x_second);
    }
  }
}
