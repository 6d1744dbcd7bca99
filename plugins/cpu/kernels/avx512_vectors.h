// Small AVX-512 building blocks: bytes of sixteen rows brought together in the lanes of a vector.
//
// Implementation header: in an unnamed namespace, see float_formats.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <immintrin.h>

#include "plugins/cpu/kernels/interleave.h"

namespace halogen::cpu::avx512 {
namespace {

inline constexpr int kRows = 16;

// The same block of each row of a panel: where it is in each row, or all of them interleaved. What
// follows reads both alike.
template <class Block>
using Rows = const Block* const (&)[kRows];
template <class Block>
using Panel = InterleavedBlock<Block, kRows>;

// Lane r of word[i] becomes bytes 4 i to 4 i + 3 of the 16 bytes at `offset` in row r.
template <class Block>
inline __attribute__((always_inline)) void transpose(Rows<Block> rows, size_t offset,
                                                     __m512i (&word)[4]) {
  const auto bytes = [&](int row) __attribute__((always_inline)) {
    return _mm_loadu_si128(
        reinterpret_cast<const __m128i*>(reinterpret_cast<const uint8_t*>(rows[row]) + offset));
  };
  __m512i quarter[4];  // rows j, 4 + j, 8 + j, 12 + j
  for (int j = 0; j < 4; ++j) {
    quarter[j] = _mm512_castsi128_si512(bytes(j));
    quarter[j] = _mm512_inserti32x4(quarter[j], bytes(4 + j), 1);
    quarter[j] = _mm512_inserti32x4(quarter[j], bytes(8 + j), 2);
    quarter[j] = _mm512_inserti32x4(quarter[j], bytes(12 + j), 3);
  }
  const __m512i low01 = _mm512_unpacklo_epi32(quarter[0], quarter[1]);
  const __m512i low23 = _mm512_unpacklo_epi32(quarter[2], quarter[3]);
  const __m512i high01 = _mm512_unpackhi_epi32(quarter[0], quarter[1]);
  const __m512i high23 = _mm512_unpackhi_epi32(quarter[2], quarter[3]);
  word[0] = _mm512_unpacklo_epi64(low01, low23);
  word[1] = _mm512_unpackhi_epi64(low01, low23);
  word[2] = _mm512_unpacklo_epi64(high01, high23);
  word[3] = _mm512_unpackhi_epi64(high01, high23);
}

template <class Block>
inline __attribute__((always_inline)) void transpose(Panel<Block> panel, size_t offset,
                                                     __m512i (&word)[4]) {
  for (int i = 0; i < 4; ++i) word[i] = _mm512_loadu_si512(panel.at(offset + 4 * i));
}

template <class Source>
inline __attribute__((always_inline)) void transpose(const Source& source, size_t offset,
                                                     __m512i (&word)[8]) {
  __m512i half[4];
  transpose(source, offset, half);
  for (int i = 0; i < 4; ++i) word[i] = half[i];
  transpose(source, offset + 16, half);
  for (int i = 0; i < 4; ++i) word[4 + i] = half[i];
}

// The 16 bits at `offset` of each row.
template <class Block>
inline __m256i halves(Rows<Block> rows, size_t offset) {
  const auto at = [&](int row) {
    short half;
    std::memcpy(&half, reinterpret_cast<const uint8_t*>(rows[row]) + offset, sizeof half);
    return half;
  };
  const __m128i low = _mm_set_epi16(at(7), at(6), at(5), at(4), at(3), at(2), at(1), at(0));
  const __m128i high = _mm_set_epi16(at(15), at(14), at(13), at(12), at(11), at(10), at(9), at(8));
  return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

template <class Block>
inline __m256i halves(Panel<Block> panel, size_t offset) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(panel.at(offset)));
}

template <class Source>
inline __m512 f16(const Source& source, size_t offset) {
  return _mm512_cvtph_ps(halves(source, offset));
}

// The byte at `offset` of each row, in 32 bits.
template <class Block>
inline __m512i wide_bytes(Rows<Block> rows, size_t offset) {
  alignas(16) uint8_t bytes[kRows];
  for (int r = 0; r < kRows; ++r) bytes[r] = reinterpret_cast<const uint8_t*>(rows[r])[offset];
  return _mm512_cvtepu8_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(bytes)));
}
template <class Block>
inline __m512i wide_bytes(Panel<Block> panel, size_t offset) {
  return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(panel.at(offset))));
}

// The low and the high halves of the lanes as F16.
inline __m512 low_f16(__m512i words) {
  return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(words));
}
inline __m512 high_f16(__m512i words) {
  return low_f16(_mm512_srli_epi32(words, 16));
}

// The 32 bits at `offset` of each row.
template <class Block>
inline __m512i words(Rows<Block> rows, size_t offset) {
  const auto four = [&](int row) {
    int word[4];
    for (int r = 0; r < 4; ++r)
      std::memcpy(&word[r], reinterpret_cast<const uint8_t*>(rows[row + r]) + offset, 4);
    return _mm_set_epi32(word[3], word[2], word[1], word[0]);
  };
  __m512i all = _mm512_castsi128_si512(four(0));
  all = _mm512_inserti32x4(all, four(4), 1);
  all = _mm512_inserti32x4(all, four(8), 2);
  return _mm512_inserti32x4(all, four(12), 3);
}

template <class Block>
inline __m512i words(Panel<Block> panel, size_t offset) {
  return _mm512_loadu_si512(panel.at(offset));
}

// In each lane, the bytes of the lane that the bytes of `Pick` name; 0x80: zero.
template <uint32_t Pick>
inline __m512i pick_bytes(__m512i lanes) {
  const __m128i control =
      _mm_setr_epi32(static_cast<int>(Pick), static_cast<int>(Pick + 0x04040404u),
                     static_cast<int>(Pick + 0x08080808u), static_cast<int>(Pick + 0x0c0c0c0cu));
  return _mm512_shuffle_epi8(lanes, _mm512_broadcast_i32x4(control));
}

inline __m512i low_nibbles(__m512i bytes) {
  return _mm512_and_si512(bytes, _mm512_set1_epi8(0xf));
}
inline __m512i high_nibbles(__m512i bytes) {
  return low_nibbles(_mm512_srli_epi32(bytes, 4));
}

}  // namespace
}  // namespace halogen::cpu::avx512
