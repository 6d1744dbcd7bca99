// Weights times many tokens, in tiles of TILE weight rows by TILE tokens: in each step the workgroup
// dequantises four pieces of every row into shared memory beside the same columns of the tokens.
// A sum may be taken in any order, so the pieces need not hold consecutive columns. The shader says
// where rows come from and go to, as for matvec.glsl, and which tokens the tile has:
//   uint token_of(uint i)
const uint TILE = 64u;
const uint STEP_PIECES = 4u;
const uint STEP_QUADS = 2u * STEP_PIECES;
const uint STRIDE = STEP_QUADS + 1u;  // odd, so that rows begin in different banks
const uint SIDE = 16u;                // the workgroup is SIDE x SIDE threads
const uint EACH = TILE / SIDE;        // rows, and tokens, of a thread: every SIDE-th

shared vec4 weights[TILE * STRIDE];
shared vec4 inputs[TILE * STRIDE];

// Each thread brings one piece of the weights and the quads of a token that meet it.
void load_step(uint first_row, uint n_tokens, uint first_piece) {
  const uint piece = first_piece + lane() % STEP_PIECES, row = lane() / STEP_PIECES;
  const uint to = row * STRIDE + 2u * (lane() % STEP_PIECES);
  vec4 first = vec4(0), second = vec4(0), x_first = vec4(0), x_second = vec4(0);
  if (piece < pieces_of(p.columns)) {
    const uvec2 at = piece_columns(piece);
    Floats x = input_row(token_of(min(row, n_tokens - 1u)));
    piece_load(weight_row(first_row + row), p.columns, piece, first, second);
    x_first = input_quad(x, at.x);
    x_second = input_quad(x, at.y);
  }
  weights[to] = first;
  weights[to + 1u] = second;
  inputs[to] = x_first;
  inputs[to + 1u] = x_second;
}

// The tile's rows from `first_row`, for the tokens token_of(0) to token_of(n_tokens - 1).
void multiply(uint first_row, uint n_tokens) {
  const uint r = lane() % SIDE, t = lane() / SIDE;
  float sums[EACH][EACH];
  [[unroll]] for (uint i = 0u; i < EACH; i++)
    [[unroll]] for (uint j = 0u; j < EACH; j++) sums[i][j] = 0.0;

  for (uint piece = 0u; piece < pieces_of(p.columns); piece += STEP_PIECES) {
    load_step(first_row, n_tokens, piece);
    barrier();
    [[unroll]] for (uint quad = 0u; quad < STEP_QUADS; quad++) {
      vec4 w[EACH], x[EACH];
      [[unroll]] for (uint i = 0u; i < EACH; i++) {
        w[i] = weights[(r + i * SIDE) * STRIDE + quad];
        x[i] = inputs[(t + i * SIDE) * STRIDE + quad];
      }
      [[unroll]] for (uint i = 0u; i < EACH; i++)
        [[unroll]] for (uint j = 0u; j < EACH; j++) sums[i][j] += dot(w[i], x[j]);
    }
    barrier();
  }
  [[unroll]] for (uint j = 0u; j < EACH; j++)
    [[unroll]] for (uint i = 0u; i < EACH; i++) {
      const uint row = first_row + r + i * SIDE, token = t + j * SIDE;
      if (row < p.rows && token < n_tokens) store(token_of(token), row, sums[i][j]);
    }
}
