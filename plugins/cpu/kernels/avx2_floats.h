// Products of F32, F16 and BF16 weights with F32 activations: one fused multiply-add per eight
// elements into the accumulator of each (row, token).
//
// Implementation header: in an unnamed namespace, see float_formats.h.
#pragma once

#include "plugins/cpu/kernels/avx2_vectors.h"
#include "plugins/cpu/kernels/linear_driver.h"

namespace halogen::cpu::avx2 {
namespace {

template <class Elements>
struct FloatKernel {
  static constexpr int kRows = 2;
  static constexpr int kRowsOfOneToken = 4;

  template <int Rows, int Tokens>
  static void tile(const LinearCall& call, size_t row, const uint8_t* const (&x)[Tokens],
                   float* const (&y)[Tokens]) {
    const uint8_t* weights[Rows];
    for (int r = 0; r < Rows; ++r) weights[r] = weight_row(call, row + r);
    __m256 total[Rows][Tokens];
    for (auto& of_row : total)
      for (auto& sum : of_row) sum = _mm256_setzero_ps();

    size_t j = 0;
    for (; j + 8 <= call.k; j += 8) {
      __m256 w[Rows];
      for (int r = 0; r < Rows; ++r) w[r] = Elements::load(weights[r] + j * Elements::kBytes);
      for (int t = 0; t < Tokens; ++t) {
        const __m256 a = F32Elements::load(x[t] + j * 4);
        for (int r = 0; r < Rows; ++r) total[r][t] = _mm256_fmadd_ps(w[r], a, total[r][t]);
      }
    }
    if (j < call.k) {
      const size_t rest = call.k - j;
      for (int t = 0; t < Tokens; ++t) {
        const __m256 a = load_first<F32Elements>(x[t] + j * 4, rest);
        for (int r = 0; r < Rows; ++r) {
          const __m256 w = load_first<Elements>(weights[r] + j * Elements::kBytes, rest);
          total[r][t] = _mm256_fmadd_ps(w, a, total[r][t]);
        }
      }
    }
    for (int t = 0; t < Tokens; ++t)
      for (int r = 0; r < Rows; ++r) y[t][row + r] = sum_lanes(total[r][t]);
  }
};

}  // namespace
}  // namespace halogen::cpu::avx2
