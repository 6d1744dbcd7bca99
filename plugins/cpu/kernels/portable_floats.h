// Products of F32, F16 and BF16 weights with F32 activations in plain C++, eight sums at a time.
//
// Implementation header: in an unnamed namespace, see float_formats.h.
#pragma once

#include <cstring>

#include "plugins/cpu/kernels/float_formats.h"
#include "plugins/cpu/kernels/linear_driver.h"

namespace halogen::cpu::portable {
namespace {

// Eight partial sums, lane i taking every element j with j % 8 == i, and how they come together.
struct Lanes {
  float lane[8] = {};

  void multiply_add(const float* a, const float* b, size_t n) {
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
      for (size_t l = 0; l < 8; ++l) lane[l] += a[i + l] * b[i + l];
    for (size_t l = 0; i + l < n; ++l) lane[l] += a[i + l] * b[i + l];
  }

  float sum() const {
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
  }
};

struct F32Elements {
  static constexpr size_t kBytes = 4;
  static void load(const uint8_t* from, size_t n, float* out) { std::memcpy(out, from, n * 4); }
};

struct F16Elements {
  static constexpr size_t kBytes = 2;
  static void load(const uint8_t* from, size_t n, float* out) {
    for (size_t i = 0; i < n; ++i) {
      uint16_t half;
      std::memcpy(&half, from + 2 * i, 2);
      out[i] = f16_to_f32(half);
    }
  }
};

struct BF16Elements {
  static constexpr size_t kBytes = 2;
  static void load(const uint8_t* from, size_t n, float* out) {
    for (size_t i = 0; i < n; ++i) {
      uint16_t brain;
      std::memcpy(&brain, from + 2 * i, 2);
      out[i] = bf16_to_f32(brain);
    }
  }
};

template <class Elements>
struct FloatKernel {
  static constexpr int kRows = 1;
  static constexpr int kRowsOfOneToken = 1;

  template <int Rows, int Tokens>
  static void tile(const LinearCall& call, size_t row, const uint8_t* const (&x)[Tokens],
                   float* const (&y)[Tokens]) {
    constexpr size_t kChunk = 256;
    const uint8_t* weights = weight_row(call, row);
    Lanes total[Tokens];
    float chunk[kChunk];
    for (size_t j = 0; j < call.k; j += kChunk) {
      const size_t n = call.k - j < kChunk ? call.k - j : kChunk;
      Elements::load(weights + j * Elements::kBytes, n, chunk);
      for (int t = 0; t < Tokens; ++t)
        total[t].multiply_add(chunk, reinterpret_cast<const float*>(x[t]) + j, n);
    }
    for (int t = 0; t < Tokens; ++t) y[t][row] = total[t].sum();
  }
};

}  // namespace
}  // namespace halogen::cpu::portable
