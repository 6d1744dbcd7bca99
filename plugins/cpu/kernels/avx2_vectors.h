// Small AVX2 building blocks shared by the linear and attention kernels.
//
// Implementation header: in an unnamed namespace, see float_formats.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <immintrin.h>

namespace halogen::cpu::avx2 {
namespace {

inline __m256i load_bytes(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

inline __m128i load_half_bytes(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}

// The eight lanes added in the same tree as everywhere else in the kernels.
inline float sum_lanes(__m256 v) {
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

inline __m256 broadcast_f16(uint16_t half) {
  return _mm256_cvtph_ps(_mm_set1_epi16(static_cast<short>(half)));
}

// Eight elements, or the first n < 8 with zeros after them, as F32.
struct F32Elements {
  static constexpr size_t kBytes = 4;
  static __m256 load(const uint8_t* from) {
    return _mm256_loadu_ps(reinterpret_cast<const float*>(from));
  }
};

struct F16Elements {
  static constexpr size_t kBytes = 2;
  static __m256 load(const uint8_t* from) { return _mm256_cvtph_ps(load_half_bytes(from)); }
};

struct BF16Elements {
  static constexpr size_t kBytes = 2;
  static __m256 load(const uint8_t* from) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(load_half_bytes(from)), 16));
  }
};

template <class Elements>
inline __m256 load_first(const uint8_t* from, size_t n) {
  uint8_t padded[32] = {};
  std::memcpy(padded, from, n * Elements::kBytes);
  return Elements::load(padded);
}

}  // namespace
}  // namespace halogen::cpu::avx2
