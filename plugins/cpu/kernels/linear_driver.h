// The loops around every linear kernel: rows in panels, tokens in tiles.
//
// A kernel is a struct with
//   kRows, kRowsOfOneToken                    how many rows a tile of several / of one token takes
//   template <int Rows, int Tokens> static void tile(const LinearCall&, size_t row,
//       const uint8_t* const (&x)[Tokens], float* const (&y)[Tokens]);
// The tile computes Rows x Tokens results. Each of them has its own accumulator and sees the same
// operations in the same order in every tile shape; that is what makes a result independent of the
// batch and of the split over threads.
//
// A panel is as many rows as stay in the second-level cache, so that the tokens after the first
// tile find the weights there and memory is read once per call.
//
// Implementation header: in an unnamed namespace, see float_formats.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugins/cpu/kernels/kernel_set.h"

namespace halogen::cpu {
namespace {

inline constexpr size_t kRowsBytes = 128 * 1024;

template <class Kernel, int Tokens>
inline void run_token_tile(const LinearCall& call, size_t row, size_t row_end, size_t token) {
  const uint8_t* x[Tokens];
  float* y[Tokens];
  for (int t = 0; t < Tokens; ++t) {
    const size_t in = call.activation_rows ? call.activation_rows[token + t] : token + t;
    const size_t out = call.output_rows ? call.output_rows[token + t] : token + t;
    x[t] = static_cast<const uint8_t*>(call.activations) + in * call.activation_stride_bytes;
    y[t] = call.y + out * call.y_stride;
  }
  constexpr int kRows = Tokens == 1 ? Kernel::kRowsOfOneToken : Kernel::kRows;
  for (; row + kRows <= row_end; row += kRows)
    Kernel::template tile<kRows, Tokens>(call, row, x, y);
  for (; row < row_end; ++row) Kernel::template tile<1, Tokens>(call, row, x, y);
}

template <class Kernel>
void run_linear(const LinearCall& call) {
  const size_t fitting = call.row_bytes ? kRowsBytes / call.row_bytes : 0;
  const size_t panel = fitting < 8 ? 8 : fitting / 8 * 8;
  for (size_t row = call.row_begin; row < call.row_end; row += panel) {
    const size_t row_end = call.row_end - row < panel ? call.row_end : row + panel;
    size_t token = 0;
    for (; token + 4 <= call.n_tokens; token += 4)
      run_token_tile<Kernel, 4>(call, row, row_end, token);
    for (; token + 2 <= call.n_tokens; token += 2)
      run_token_tile<Kernel, 2>(call, row, row_end, token);
    for (; token < call.n_tokens; ++token) run_token_tile<Kernel, 1>(call, row, row_end, token);
  }
}

inline const uint8_t* weight_row(const LinearCall& call, size_t row) {
  return static_cast<const uint8_t*>(call.weights) + row * call.row_bytes;
}

}  // namespace
}  // namespace halogen::cpu
