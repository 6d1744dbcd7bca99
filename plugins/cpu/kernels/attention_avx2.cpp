// Attention for AVX2: four query heads share every K and V vector that is loaded and converted.
#include "plugins/cpu/kernels/attention_driver.h"
#include "plugins/cpu/kernels/avx2_vectors.h"
#include "plugins/cpu/kernels/kernel_parts.h"

namespace halogen::cpu::avx2 {
namespace {

template <class Elements, int Heads>
inline void score_heads(const float* q, size_t q_stride, const uint8_t* keys, size_t n, size_t dim,
                        float* out, size_t out_stride) {
  for (size_t p = 0; p < n; ++p) {
    const uint8_t* key = keys + p * dim * Elements::kBytes;
    __m256 total[Heads];
    for (auto& sum : total) sum = _mm256_setzero_ps();
    size_t d = 0;
    for (; d + 8 <= dim; d += 8) {
      const __m256 k = Elements::load(key + d * Elements::kBytes);
      for (int h = 0; h < Heads; ++h)
        total[h] = _mm256_fmadd_ps(_mm256_loadu_ps(q + h * q_stride + d), k, total[h]);
    }
    if (d < dim) {
      const __m256 k = load_first<Elements>(key + d * Elements::kBytes, dim - d);
      for (int h = 0; h < Heads; ++h) {
        const auto* rest = reinterpret_cast<const uint8_t*>(q + h * q_stride + d);
        total[h] = _mm256_fmadd_ps(load_first<F32Elements>(rest, dim - d), k, total[h]);
      }
    }
    for (int h = 0; h < Heads; ++h) out[h * out_stride + p] = sum_lanes(total[h]);
  }
}

template <class Elements, int Heads>
inline void accumulate_heads(const float* weights, size_t weight_stride, const uint8_t* values,
                             size_t n, size_t dim, float* out, size_t out_stride) {
  size_t d = 0;
  for (; d + 8 <= dim; d += 8) {
    __m256 total[Heads];
    for (int h = 0; h < Heads; ++h) total[h] = _mm256_loadu_ps(out + h * out_stride + d);
    for (size_t p = 0; p < n; ++p) {
      const __m256 v = Elements::load(values + (p * dim + d) * Elements::kBytes);
      for (int h = 0; h < Heads; ++h)
        total[h] =
            _mm256_fmadd_ps(_mm256_broadcast_ss(weights + h * weight_stride + p), v, total[h]);
    }
    for (int h = 0; h < Heads; ++h) _mm256_storeu_ps(out + h * out_stride + d, total[h]);
  }
  if (d == dim) return;
  const size_t rest = dim - d;
  for (int h = 0; h < Heads; ++h) {
    float* to = out + h * out_stride + d;
    __m256 total = load_first<F32Elements>(reinterpret_cast<const uint8_t*>(to), rest);
    for (size_t p = 0; p < n; ++p) {
      const __m256 v = load_first<Elements>(values + (p * dim + d) * Elements::kBytes, rest);
      total = _mm256_fmadd_ps(_mm256_broadcast_ss(weights + h * weight_stride + p), v, total);
    }
    alignas(32) float lanes[8];
    _mm256_store_ps(lanes, total);
    std::memcpy(to, lanes, rest * sizeof(float));
  }
}

struct Arithmetic {
  template <class Elements>
  static void scores(const float* q, size_t q_stride, size_t n_heads, const uint8_t* keys, size_t n,
                     size_t dim, float* out, size_t out_stride) {
    size_t h = 0;
    for (; h + 4 <= n_heads; h += 4)
      score_heads<Elements, 4>(q + h * q_stride, q_stride, keys, n, dim, out + h * out_stride,
                               out_stride);
    for (; h + 2 <= n_heads; h += 2)
      score_heads<Elements, 2>(q + h * q_stride, q_stride, keys, n, dim, out + h * out_stride,
                               out_stride);
    for (; h < n_heads; ++h)
      score_heads<Elements, 1>(q + h * q_stride, q_stride, keys, n, dim, out + h * out_stride,
                               out_stride);
  }

  template <class Elements>
  static void accumulate(const float* weights, size_t weight_stride, size_t n_heads,
                         const uint8_t* values, size_t n, size_t dim, float* out,
                         size_t out_stride) {
    size_t h = 0;
    for (; h + 4 <= n_heads; h += 4)
      accumulate_heads<Elements, 4>(weights + h * weight_stride, weight_stride, values, n, dim,
                                    out + h * out_stride, out_stride);
    for (; h + 2 <= n_heads; h += 2)
      accumulate_heads<Elements, 2>(weights + h * weight_stride, weight_stride, values, n, dim,
                                    out + h * out_stride, out_stride);
    for (; h < n_heads; ++h)
      accumulate_heads<Elements, 1>(weights + h * weight_stride, weight_stride, values, n, dim,
                                    out + h * out_stride, out_stride);
  }
};

}  // namespace

void add_attention_kernels(KernelSet& set) {
  set.attend = attend_with<Arithmetic, F16Elements, F32Elements>;
}

}  // namespace halogen::cpu::avx2
