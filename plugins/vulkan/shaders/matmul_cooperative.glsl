// Weights times many tokens with cooperative matrices: tiles of 64 weight rows by TOKENS tokens.
// In each step the workgroup dequantises four pieces of every row into shared memory, as halves,
// beside the same columns of the tokens; its four subgroups then multiply a quarter of the tile
// each. The shader says where rows come from and go to, as for matmul.glsl.
#include "cooperative.glsl"

const uint TILE = 64u;
const uint STEP_PIECES = 4u;
const uint STRIDE = 8u * STEP_PIECES + 8u;  // halves of a row; not a multiple of all banks
const uint SIDE = 16u;                      // of a matrix
const uint DEPTHS = 8u * STEP_PIECES / SIDE;
const uint ROW_SIDES = TILE / SIDE / 2u;      // matrices of a subgroup: it has half of the rows
const uint TOKEN_SIDES = TOKENS / SIDE / 2u;  // and half of the tokens

shared float16_t weights[TILE * STRIDE];
shared float16_t inputs[TOKENS * STRIDE];
shared float results[4u * SIDE * SIDE];  // one matrix of each subgroup

// Halves end at 65504; what is further out stays finite.
void put_inputs(uint at, vec4 quad) {
  [[unroll]] for (uint i = 0u; i < 4u; i++) inputs[at + i] = float16_t(clamp(quad[i], -65504.0, 65504.0));
}
void put_weights(uint at, vec4 quad) {
  [[unroll]] for (uint i = 0u; i < 4u; i++) weights[at + i] = float16_t(quad[i]);
}

void load_step(uint first_row, uint n_tokens, uint first_piece) {
  const uint pieces = pieces_of(p.columns);
  for (uint i = lane(); i < TILE * STEP_PIECES; i += gl_WorkGroupSize.x) {
    const uint row = i / STEP_PIECES, piece = first_piece + i % STEP_PIECES;
    vec4 first = vec4(0), second = vec4(0);
    if (piece < pieces) piece_load(weight_row(first_row + row), p.columns, piece, first, second);
    const uint to = row * STRIDE + 8u * (i % STEP_PIECES);
    put_weights(to, first);
    put_weights(to + 4u, second);
  }
  for (uint i = lane(); i < TOKENS * STEP_PIECES; i += gl_WorkGroupSize.x) {
    const uint token = i / STEP_PIECES, piece = first_piece + i % STEP_PIECES;
    vec4 first = vec4(0), second = vec4(0);
    if (piece < pieces && token < n_tokens) {
      const uvec2 at = piece_columns(piece);
      Floats x = input_row(token_of(token));
      first = input_quad(x, at.x);
      second = input_quad(x, at.y);
    }
    const uint to = token * STRIDE + 8u * (i % STEP_PIECES);
    put_inputs(to, first);
    put_inputs(to + 4u, second);
  }
}

// The subgroup's matrix goes out by way of shared memory, where its elements have places.
void store_matrix(MatrixSum sum, uint first_row, uint first_token, uint n_tokens) {
  const uint from = gl_SubgroupID * SIDE * SIDE;
  subgroupBarrier();
  store_sum(results[from], sum, kColumnMajor, int(SIDE), kNonPrivate);
  subgroupBarrier();
  for (uint i = gl_SubgroupInvocationID; i < SIDE * SIDE; i += gl_SubgroupSize) {
    const uint row = first_row + i % SIDE, token = first_token + i / SIDE;
    if (row < p.rows && token < n_tokens) store(token_of(token), row, results[from + i]);
  }
}

// The tile's rows from `first_row`, for the tokens token_of(0) to token_of(n_tokens - 1).
void multiply(uint first_row, uint n_tokens) {
  const uint row_part = gl_SubgroupID % 2u * ROW_SIDES * SIDE;
  const uint token_part = gl_SubgroupID / 2u * TOKEN_SIDES * SIDE;
  MatrixSum sums[ROW_SIDES * TOKEN_SIDES];
  [[unroll]] for (uint i = 0u; i < ROW_SIDES * TOKEN_SIDES; i++) sums[i] = fill_sum(0.0);

  for (uint piece = 0u; piece < pieces_of(p.columns); piece += STEP_PIECES) {
    load_step(first_row, n_tokens, piece);
    barrier();
    [[unroll]] for (uint depth = 0u; depth < DEPTHS; depth++) {
      MatrixA a[ROW_SIDES];
      [[unroll]] for (uint i = 0u; i < ROW_SIDES; i++)
        a[i] = load_a(weights[(row_part + i * SIDE) * STRIDE + depth * SIDE], kRowMajor, int(STRIDE), kNonPrivate);
      [[unroll]] for (uint j = 0u; j < TOKEN_SIDES; j++) {
        MatrixB b = load_b(inputs[(token_part + j * SIDE) * STRIDE + depth * SIDE], kColumnMajor, int(STRIDE),
                           kNonPrivate);
        [[unroll]] for (uint i = 0u; i < ROW_SIDES; i++)
          sums[j * ROW_SIDES + i] = multiply_add(a[i], b, sums[j * ROW_SIDES + i]);
      }
    }
    barrier();
  }
  [[unroll]] for (uint j = 0u; j < TOKEN_SIDES; j++)
    [[unroll]] for (uint i = 0u; i < ROW_SIDES; i++)
      store_matrix(sums[j * ROW_SIDES + i], first_row + row_part + i * SIDE, token_part + j * SIDE, n_tokens);
}
