// Attention for AVX2.
#include "plugins/cpu/kernels/attention_driver.h"
#include "plugins/cpu/kernels/avx2_vectors.h"
#include "plugins/cpu/kernels/kernel_parts.h"

namespace halogen::cpu::avx2 {
namespace {

struct Vector {
  using F = __m256;
  static constexpr uint32_t kLanes = 8;
  static constexpr int kRows = 6;  // 12 sums, 2 of the panel and 1 factor: 15 registers
  static constexpr uint32_t kPartsThatConvert = 2;  // of F32 and F16, where that is cheaper

  static F zero() { return _mm256_setzero_ps(); }
  static F set(float value) { return _mm256_set1_ps(value); }
  static F broadcast(const float* from) { return _mm256_broadcast_ss(from); }
  static F load(const float* from) { return _mm256_loadu_ps(from); }
  static void store(float* to, F value) { _mm256_storeu_ps(to, value); }

  static F add(F a, F b) { return _mm256_add_ps(a, b); }
  static F subtract(F a, F b) { return _mm256_sub_ps(a, b); }
  static F multiply(F a, F b) { return _mm256_mul_ps(a, b); }
  static F multiply_add(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
  static F maximum(F a, F b) { return _mm256_max_ps(b, a); }
  static F zero_where_below(F value, F x, F limit) {
    return _mm256_andnot_ps(_mm256_cmp_ps(x, limit, _CMP_LT_OQ), value);
  }
  static F power_of_two(F shifted) {
    const __m256i n = _mm256_add_epi32(_mm256_castps_si256(shifted), _mm256_set1_epi32(127));
    return _mm256_castsi256_ps(_mm256_slli_epi32(n, 23));
  }
  static float sum_lanes(F v) { return avx2::sum_lanes(v); }
  static float largest_lane(F v) {
    __m128 m = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    m = _mm_max_ps(m, _mm_movehl_ps(m, m));
    return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
  }

  static F broadcast_f16(uint16_t half) { return avx2::broadcast_f16(half); }
  static F load_f16(const uint8_t* from) { return F16Elements::load(from); }
  static F of_bytes(__m128i codes) { return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(codes)); }
  static F load_i8(const int8_t* from) {
    return of_bytes(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
  }
  static F load_nibbles(const uint8_t* from, bool high) {
    __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    if (high) bytes = _mm_srli_epi16(bytes, 4);
    bytes = _mm_and_si128(bytes, _mm_set1_epi8(15));
    return of_bytes(_mm_sub_epi8(bytes, _mm_set1_epi8(8)));
  }
};

}  // namespace

void add_attention_kernels(KernelSet& set) {
  set.attend = Attention<Vector>::attend;
}

}  // namespace halogen::cpu::avx2
