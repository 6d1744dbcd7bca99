// The loops around the linear kernels that take F32 activations.
//
// kPanelRows rows x kPanelColumns columns of weights are turned into F32 once and then meet the
// tokens in register tiles of kTileRows x kTileTokens. Each (row, token) has eight partial sums of
// its own that take the columns in order, lane i those with column % 8 == i; they rest in memory
// between two panels without changing. So a result does not depend on batch, panel or split.
//
// Source says how weights become F32:
//   static void load(const uint8_t* row, size_t first, size_t n, float* out);
// first is a multiple of kPanelColumns. Arithmetic is what differs between instruction sets:
//   Sums                          eight partial sums; sums of nothing where value-initialised
//   template <int Tokens> static void tile(const float* weights, size_t n, const float* const
//       (&x)[Tokens], Sums* const (&sums)[Tokens]);
//         weights: [kTileRows][kPanelColumns], n <= kPanelColumns of them used; sums[t]:
//         [kTileRows]
//   static float total(const Sums& sums);
//
// Implementation header: in an unnamed namespace, see float_formats.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "plugins/cpu/kernels/kernel_set.h"

namespace halogen::cpu {
namespace {

inline constexpr size_t kPanelColumns = 256;
inline constexpr size_t kPanelRows = 16;
inline constexpr size_t kTileRows = 4;
inline constexpr size_t kTileTokens = 3;
// Tokens that a panel meets before the next one: as many as their sums leave room for.
inline constexpr size_t kPanelTokens = 128;

template <class Source, class Arithmetic>
class FloatPanels {
 public:
  explicit FloatPanels(const LinearCall& call) : call_(call) {}

  void run() {
    for (size_t token = 0; token < call_.n_tokens; token += kPanelTokens)
      for (size_t row = call_.row_begin; row < call_.row_end; row += kPanelRows)
        run_rows(row, std::min(kPanelRows, call_.row_end - row), token,
                 std::min(kPanelTokens, call_.n_tokens - token));
  }

 private:
  using Sums = typename Arithmetic::Sums;

  void run_rows(size_t row, size_t n_rows, size_t token, size_t n_tokens) {
    const size_t tile_rows = (n_rows + kTileRows - 1) / kTileRows * kTileRows;
    for (size_t t = 0; t < n_tokens; ++t) std::fill_n(sums_[t], tile_rows, Sums{});
    for (size_t column = 0; column < call_.k; column += kPanelColumns) {
      const size_t n = std::min(kPanelColumns, call_.k - column);
      for (size_t r = 0; r < tile_rows; ++r)  // what fills up the last tile repeats the last row
        Source::load(static_cast<const uint8_t*>(call_.weights) +
                         (row + std::min(r, n_rows - 1)) * call_.row_bytes,
                     column, n, panel_[r]);
      size_t t = 0;
      for (; t + kTileTokens <= n_tokens; t += kTileTokens)
        run_tiles<kTileTokens>(tile_rows, column, n, token, t);
      for (; t + 2 <= n_tokens; t += 2) run_tiles<2>(tile_rows, column, n, token, t);
      if (t < n_tokens) run_tiles<1>(tile_rows, column, n, token, t);
    }
    for (size_t t = 0; t < n_tokens; ++t) {
      const size_t out = call_.output_rows ? call_.output_rows[token + t] : token + t;
      for (size_t r = 0; r < n_rows; ++r)
        call_.y[out * call_.y_stride + row + r] = Arithmetic::total(sums_[t][r]);
    }
  }

  template <int Tokens>
  void run_tiles(size_t tile_rows, size_t column, size_t n, size_t token, size_t t) {
    const float* x[Tokens];
    for (int i = 0; i < Tokens; ++i) {
      const size_t in =
          call_.activation_rows ? call_.activation_rows[token + t + i] : token + t + i;
      x[i] = reinterpret_cast<const float*>(static_cast<const uint8_t*>(call_.activations) +
                                            in * call_.activation_stride_bytes) +
             column;
    }
    for (size_t r = 0; r < tile_rows; r += kTileRows) {
      Sums* sums[Tokens];
      for (int i = 0; i < Tokens; ++i) sums[i] = &sums_[t + i][r];
      Arithmetic::template tile<Tokens>(panel_[r], n, x, sums);
    }
  }

  const LinearCall& call_;
  alignas(64) float panel_[kPanelRows][kPanelColumns];
  alignas(64) Sums sums_[kPanelTokens][kPanelRows];
};

template <class Source, class Arithmetic>
void run_float_panels(const LinearCall& call) {
  FloatPanels<Source, Arithmetic>(call).run();
}

}  // namespace
}  // namespace halogen::cpu
