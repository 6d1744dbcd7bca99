#include "core/bench/register_loops.h"

#include <cstddef>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace halogen::bench {
namespace {

// Enough independent chains to hide the latency of any of the instructions.
constexpr size_t kChains = 12;

// Makes the compiler believe that a value changes here, so that nothing moves out of a loop.
template <typename T>
[[gnu::always_inline]] inline void opaque(T& value) {
#if defined(__x86_64__)
  asm volatile("" : "+x"(value));
#else
  asm volatile("" : "+m"(value));
#endif
}

uint64_t portable_integers(uint64_t rounds) {
  int32_t sums[kChains] = {};
  int8_t a = 3, b = 5;
  for (uint64_t round = 0; round < rounds; round++) {
    asm volatile("" : "+r"(a), "+r"(b));
    for (int32_t& sum : sums) sum += a * b;
  }
  for (int32_t& sum : sums) asm volatile("" : "+r"(sum));
  return rounds * kChains * 2;
}

uint64_t portable_floats(uint64_t rounds) {
  float sums[kChains] = {};
  float a = 1.0F, b = 0.5F;
  for (uint64_t round = 0; round < rounds; round++) {
    opaque(a);
    for (float& sum : sums) sum += a * b;
  }
  for (float& sum : sums) opaque(sum);
  return rounds * kChains * 2;
}

#if defined(__x86_64__)

#define HALOGEN_LOOP(name, features, Vector, zero, operand, step, operations) \
  [[gnu::target(features)]] uint64_t name(uint64_t rounds) {                  \
    Vector sums[kChains];                                                     \
    for (Vector & sum : sums) sum = zero;                                     \
    Vector a = operand;                                                       \
    for (uint64_t round = 0; round < rounds; round++) {                       \
      for (Vector & sum : sums) {                                             \
        asm volatile("" : "+v"(a));                                           \
        sum = step;                                                           \
      }                                                                       \
    }                                                                         \
    for (Vector & sum : sums) asm volatile("" : "+v"(sum));                   \
    return rounds * kChains * (operations);                                   \
  }

HALOGEN_LOOP(avx2_floats, "avx2,fma", __m256, _mm256_setzero_ps(), _mm256_set1_ps(0.5F),
             _mm256_fmadd_ps(a, a, sum), 16)
HALOGEN_LOOP(avx512_floats, "avx512f", __m512, _mm512_setzero_ps(), _mm512_set1_ps(0.5F),
             _mm512_fmadd_ps(a, a, sum), 32)
// Without an instruction for whole dot products: sums in 16 bits, the fastest that codes of up to 5
// bits allow.
HALOGEN_LOOP(avx2_integers, "avx2", __m256i, _mm256_setzero_si256(), _mm256_set1_epi8(3),
             _mm256_add_epi16(sum, _mm256_maddubs_epi16(a, a)), 64)
HALOGEN_LOOP(avx512_integers, "avx512f,avx512bw,avx512vnni", __m512i, _mm512_setzero_si512(),
             _mm512_set1_epi8(3), _mm512_dpbusd_epi32(sum, a, a), 128)

#undef HALOGEN_LOOP

[[gnu::target("avx2")]] void read_avx2(const uint8_t* data, uint64_t bytes) {
  __m256i sums[4] = {};
  const auto* vectors = reinterpret_cast<const __m256i*>(data);
  for (uint64_t i = 0; i + 4 <= bytes / 32; i += 4) {
    for (size_t j = 0; j < 4; j++)
      sums[j] = _mm256_xor_si256(sums[j], _mm256_load_si256(vectors + i + j));
  }
  for (__m256i& sum : sums) asm volatile("" : "+x"(sum));
}

bool has_avx512_integers() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vnni");
}

#endif

void read_portable(const uint8_t* data, uint64_t bytes) {
  uint64_t sums[8] = {};
  const auto* words = reinterpret_cast<const uint64_t*>(data);
  for (uint64_t i = 0; i + 8 <= bytes / 8; i += 8) {
    for (size_t j = 0; j < 8; j++) sums[j] ^= words[i + j];
  }
  for (uint64_t& sum : sums) asm volatile("" : "+r"(sum));
}

}  // namespace

void read_bytes(const uint8_t* data, uint64_t bytes) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return read_avx2(data, bytes);
#endif
  read_portable(data, bytes);
}

RegisterLoop best_integer_loop() {
#if defined(__x86_64__)
  if (has_avx512_integers()) return avx512_integers;
  if (__builtin_cpu_supports("avx2")) return avx2_integers;
#endif
  return portable_integers;
}

RegisterLoop best_float_loop() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return avx512_floats;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2_floats;
#endif
  return portable_floats;
}

}  // namespace halogen::bench
