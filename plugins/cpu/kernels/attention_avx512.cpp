// Attention for AVX-512.
#include <immintrin.h>

#include "plugins/cpu/kernels/attention_driver.h"
#include "plugins/cpu/kernels/kernel_parts.h"

namespace halogen::cpu::avx512 {
namespace {

struct Vector {
  using F = __m512;
  static constexpr uint32_t kLanes = 16;
  static constexpr int kRows = 12;  // 24 sums, 2 of the panel and factors: 27 registers
  static constexpr uint32_t kPartsThatConvert = 2;  // of F32 and F16, where that is cheaper

  static F zero() { return _mm512_setzero_ps(); }
  static F set(float value) { return _mm512_set1_ps(value); }
  static F broadcast(const float* from) { return _mm512_set1_ps(*from); }
  static F load(const float* from) { return _mm512_loadu_ps(from); }
  static void store(float* to, F value) { _mm512_storeu_ps(to, value); }

  static F add(F a, F b) { return _mm512_add_ps(a, b); }
  static F subtract(F a, F b) { return _mm512_sub_ps(a, b); }
  static F multiply(F a, F b) { return _mm512_mul_ps(a, b); }
  static F multiply_add(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
  static F maximum(F a, F b) { return _mm512_max_ps(b, a); }
  static F zero_where_below(F value, F x, F limit) {
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, limit, _CMP_NLT_UQ), value);
  }
  static F power_of_two(F shifted) {
    const __m512i n = _mm512_add_epi32(_mm512_castps_si512(shifted), _mm512_set1_epi32(127));
    return _mm512_castsi512_ps(_mm512_slli_epi32(n, 23));
  }
  static float sum_lanes(F v) { return _mm512_reduce_add_ps(v); }
  static float largest_lane(F v) { return _mm512_reduce_max_ps(v); }

  static F broadcast_f16(uint16_t half) {
    return _mm512_broadcastss_ps(_mm_cvtph_ps(_mm_cvtsi32_si128(half)));
  }
  static F load_f16(const uint8_t* from) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  static F of_bytes(__m128i codes) { return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(codes)); }
  static F load_i8(const int8_t* from) {
    return of_bytes(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  static F load_nibbles(const uint8_t* from, bool high) {
    const F values = _mm512_setr_ps(-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7);
    __m512i codes = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    if (high) codes = _mm512_srli_epi32(codes, 4);
    return _mm512_permutexvar_ps(codes, values);  // looks at the low four bits alone
  }
};

}  // namespace

void add_attention_kernels(KernelSet& set) {
  set.attend = Attention<Vector>::attend;
}

}  // namespace halogen::cpu::avx512
