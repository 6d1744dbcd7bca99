// Products of F32, F16 and BF16 weights with F32 activations in plain C++, eight sums at a time.
//
// Implementation header: in an unnamed namespace, see float_formats.h.
#pragma once

#include <cstring>

#include "plugins/cpu/kernels/float_formats.h"
#include "plugins/cpu/kernels/float_panels.h"

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

struct FloatArithmetic {
  using Sums = Lanes;

  template <int Tokens>
  static void tile(const float* weights, size_t n, const float* const (&x)[Tokens],
                   Lanes* const (&sums)[Tokens]) {
    for (size_t r = 0; r < kTileRows; ++r)
      for (int t = 0; t < Tokens; ++t) {
        Lanes lanes = sums[t][r];
        lanes.multiply_add(weights + r * kPanelColumns, x[t], n);
        sums[t][r] = lanes;
      }
  }

  static float total(const Lanes& sums) { return sums.sum(); }
};

template <class Elements>
struct PlainSource {
  static void load(const uint8_t* row, size_t first, size_t n, float* out) {
    Elements::load(row + first * Elements::kBytes, n, out);
  }
};

// The kernel of a plain weight type; null for the others.
inline LinearKernel* float_kernel(halogen_type type) {
  switch (type) {
    case HALOGEN_F32:
      return &run_float_panels<PlainSource<F32Elements>, FloatArithmetic>;
    case HALOGEN_F16:
      return &run_float_panels<PlainSource<F16Elements>, FloatArithmetic>;
    case HALOGEN_BF16:
      return &run_float_panels<PlainSource<BF16Elements>, FloatArithmetic>;
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace halogen::cpu::portable
