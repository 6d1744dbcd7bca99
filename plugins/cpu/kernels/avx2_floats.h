// Products of F32 weights with F32 activations: one fused multiply-add per eight elements into the
// accumulator of each (row, token).
//
// Implementation header: in an unnamed namespace, see float_formats.h.
#pragma once

#include "plugins/cpu/kernels/avx2_vectors.h"
#include "plugins/cpu/kernels/float_panels.h"

namespace halogen::cpu::avx2 {
namespace {

struct FloatArithmetic {
  struct Sums {
    __m256 lanes = _mm256_setzero_ps();
  };

  template <int Tokens>
  static void tile(const float* weights, size_t n, const float* const (&x)[Tokens],
                   Sums* const (&sums)[Tokens]) {
    __m256 total[Tokens][kTileRows];
    for (int t = 0; t < Tokens; ++t)
      for (size_t r = 0; r < kTileRows; ++r) total[t][r] = sums[t][r].lanes;
    const auto add = [&](size_t j, const __m256(&a)[Tokens]) __attribute__((always_inline)) {
      for (size_t r = 0; r < kTileRows; ++r) {
        const __m256 w = _mm256_load_ps(weights + r * kPanelColumns + j);
        for (int t = 0; t < Tokens; ++t) total[t][r] = _mm256_fmadd_ps(w, a[t], total[t][r]);
      }
    };
    __m256 a[Tokens];
    size_t j = 0;
    for (; j + 8 <= n; j += 8) {
      for (int t = 0; t < Tokens; ++t) a[t] = _mm256_loadu_ps(x[t] + j);
      add(j, a);
    }
    if (j < n) {
      for (int t = 0; t < Tokens; ++t)
        a[t] = load_first<F32Elements>(reinterpret_cast<const uint8_t*>(x[t] + j), n - j);
      add(j, a);
    }
    for (int t = 0; t < Tokens; ++t)
      for (size_t r = 0; r < kTileRows; ++r) sums[t][r].lanes = total[t][r];
  }

  static float total(const Sums& sums) { return sum_lanes(sums.lanes); }
};

// Plain weights. The panel is filled up with zeros to whole vectors.
template <class Elements>
struct PlainSource {
  static void load(const uint8_t* row, size_t first, size_t n, float* out) {
    const uint8_t* from = row + first * Elements::kBytes;
    size_t j = 0;
    for (; j + 8 <= n; j += 8)
      _mm256_store_ps(out + j, Elements::load(from + j * Elements::kBytes));
    if (j < n) _mm256_store_ps(out + j, load_first<Elements>(from + j * Elements::kBytes, n - j));
  }
};

// One token does not pay for a panel: eight rows at a time, from their own layout.
template <class Elements>
void run_floats_of_one_token(const LinearCall& call) {
  constexpr size_t kTogether = 8;
  const size_t in = call.activation_rows ? call.activation_rows[0] : 0;
  const size_t out = call.output_rows ? call.output_rows[0] : 0;
  const auto* x = static_cast<const uint8_t*>(call.activations) + in * call.activation_stride_bytes;
  for (size_t row = call.row_begin; row < call.row_end; row += kTogether) {
    const size_t n_rows = std::min(kTogether, call.row_end - row);
    const uint8_t* weights[kTogether];
    __m256 total[kTogether];
    for (size_t r = 0; r < kTogether; ++r) {
      weights[r] = static_cast<const uint8_t*>(call.weights) +
                   (row + std::min(r, n_rows - 1)) * call.row_bytes;
      total[r] = _mm256_setzero_ps();
    }
    size_t j = 0;
    for (; j + 8 <= call.k; j += 8) {
      const __m256 a = F32Elements::load(x + j * 4);
      for (size_t r = 0; r < kTogether; ++r)
        total[r] = _mm256_fmadd_ps(Elements::load(weights[r] + j * Elements::kBytes), a, total[r]);
    }
    if (j < call.k) {
      const __m256 a = load_first<F32Elements>(x + j * 4, call.k - j);
      for (size_t r = 0; r < kTogether; ++r)
        total[r] = _mm256_fmadd_ps(
            load_first<Elements>(weights[r] + j * Elements::kBytes, call.k - j), a, total[r]);
    }
    for (size_t r = 0; r < n_rows; ++r) call.y[out * call.y_stride + row + r] = sum_lanes(total[r]);
  }
}

template <class Elements>
void run_floats(const LinearCall& call) {
  if (call.n_tokens == 1)
    run_floats_of_one_token<Elements>(call);
  else
    run_float_panels<PlainSource<Elements>, FloatArithmetic>(call);
}

// The kernel of a plain weight type; null for the others.
inline LinearKernel* float_kernel(halogen_type type) {
  switch (type) {
    case HALOGEN_F32:
      return &run_floats<F32Elements>;
    case HALOGEN_F16:
      return &run_floats<F16Elements>;
    case HALOGEN_BF16:
      return &run_floats<BF16Elements>;
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace halogen::cpu::avx2
