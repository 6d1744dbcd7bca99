// Eight weight rows side by side: the same bytes of each, brought into the lanes of one vector.
//
// The linear kernels compute eight rows at once, one in each 32-bit lane. Packed bytes are
// transposed four at a time before they are unpacked, while there are few of them; unpacking is the
// same in every lane.
//
// Implementation header: in an unnamed namespace, see float_formats.h.
#pragma once

#include "plugins/cpu/kernels/avx2_vectors.h"
#include "plugins/cpu/kernels/interleave.h"
#include "plugins/cpu/kernels/unroll.h"

namespace halogen::cpu::avx2 {
namespace {

inline constexpr size_t kRows = 8;

// One block of each row: where it is in each, or all of them interleaved. What follows reads both
// alike.
template <class Block>
using Rows = const Block* const (&)[kRows];
template <class Block>
using Panel = InterleavedBlock<Block, kRows>;

template <class Integer>
inline Integer integer_at(const void* block, size_t offset) {
  Integer value;
  std::memcpy(&value, static_cast<const uint8_t*>(block) + offset, sizeof value);
  return value;
}

// The 16 bytes at `offset` of each block: byte 4 i + j of row r goes to byte j of lane r in
// vector i.
template <class Block>
[[gnu::always_inline]] inline void transpose_16_bytes(Rows<Block> rows, size_t offset,
                                                      __m256i (&out)[4]) {
  const auto load = [&](int r) __attribute__((always_inline)) {
    return load_half_bytes(reinterpret_cast<const uint8_t*>(rows[r]) + offset);
  };
  __m256i pair[4];
  for (int r = 0; r < 4; ++r)
    pair[r] = _mm256_inserti128_si256(_mm256_castsi128_si256(load(r)), load(r + 4), 1);
  const __m256i a = _mm256_unpacklo_epi32(pair[0], pair[1]);
  const __m256i b = _mm256_unpacklo_epi32(pair[2], pair[3]);
  const __m256i c = _mm256_unpackhi_epi32(pair[0], pair[1]);
  const __m256i d = _mm256_unpackhi_epi32(pair[2], pair[3]);
  out[0] = _mm256_unpacklo_epi64(a, b);
  out[1] = _mm256_unpackhi_epi64(a, b);
  out[2] = _mm256_unpacklo_epi64(c, d);
  out[3] = _mm256_unpackhi_epi64(c, d);
}

template <class Block>
[[gnu::always_inline]] inline void transpose_16_bytes(Panel<Block> panel, size_t offset,
                                                      __m256i (&out)[4]) {
  for (int i = 0; i < 4; ++i) out[i] = load_bytes(panel.at(offset + 4 * i));
}

// The integer at `offset` of row r's block in lane r.
template <class Integer, class Block>
inline __m256i gather(Rows<Block> rows, size_t offset) {
  const auto at = [&](int r) { return static_cast<int>(integer_at<Integer>(rows[r], offset)); };
  return _mm256_setr_epi32(at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7));
}

template <class Integer, class Block>
inline __m256i gather(Panel<Block> panel, size_t offset) {
  if constexpr (sizeof(Integer) == 1)
    return _mm256_cvtepu8_epi32(
        _mm_loadl_epi64(reinterpret_cast<const __m128i*>(panel.at(offset))));
  else
    return load_bytes(panel.at(offset));
}

// The F16 at `offset` of row r's block in lane r, as F32.
template <class Block>
inline __m256 gather_f16(Rows<Block> rows, size_t offset) {
  const auto at = [&](int r) { return integer_at<short>(rows[r], offset); };
  return _mm256_cvtph_ps(_mm_setr_epi16(at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)));
}

template <class Block>
inline __m256 gather_f16(Panel<Block> panel, size_t offset) {
  return _mm256_cvtph_ps(load_half_bytes(panel.at(offset)));
}

}  // namespace
}  // namespace halogen::cpu::avx2
