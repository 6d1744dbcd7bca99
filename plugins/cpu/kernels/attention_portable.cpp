// Attention in plain C++.
#include "plugins/cpu/kernels/attention_driver.h"
#include "plugins/cpu/kernels/kernel_parts.h"
#include "plugins/cpu/kernels/portable_floats.h"

namespace halogen::cpu::portable {
namespace {

struct Arithmetic {
  static constexpr size_t kChunk = 64;

  template <class Elements>
  static void scores(const float* q, size_t q_stride, size_t n_heads, const uint8_t* keys, size_t n,
                     size_t dim, float* out, size_t out_stride) {
    for (size_t h = 0; h < n_heads; ++h)
      for (size_t p = 0; p < n; ++p) {
        Lanes total;
        float chunk[kChunk];
        for (size_t d = 0; d < dim; d += kChunk) {
          const size_t count = dim - d < kChunk ? dim - d : kChunk;
          Elements::load(keys + (p * dim + d) * Elements::kBytes, count, chunk);
          total.multiply_add(q + h * q_stride + d, chunk, count);
        }
        out[h * out_stride + p] = total.sum();
      }
  }

  template <class Elements>
  static void accumulate(const float* weights, size_t weight_stride, size_t n_heads,
                         const uint8_t* values, size_t n, size_t dim, float* out,
                         size_t out_stride) {
    for (size_t p = 0; p < n; ++p)
      for (size_t d = 0; d < dim; d += kChunk) {
        const size_t count = dim - d < kChunk ? dim - d : kChunk;
        float chunk[kChunk];
        Elements::load(values + (p * dim + d) * Elements::kBytes, count, chunk);
        for (size_t h = 0; h < n_heads; ++h)
          for (size_t i = 0; i < count; ++i)
            out[h * out_stride + d + i] += weights[h * weight_stride + p] * chunk[i];
      }
  }
};

}  // namespace

void add_attention_kernels(KernelSet& set) {
  set.attend = attend_with<Arithmetic, F16Elements, F32Elements>;
}

}  // namespace halogen::cpu::portable
