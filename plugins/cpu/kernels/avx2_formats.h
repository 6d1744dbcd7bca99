// How the quantised formats become operands of the AVX2 integer products.
//
// maddubs multiplies unsigned by signed bytes and adds neighbours into 16 bits. The unsigned
// operand comes from the weights: formats with small non-negative codes give these (kSigned false),
// the others give signed values, whose signs are moved over to the activations. No pair sum
// saturates: the largest are 2 * 128 * 127 = 32512 for signed bytes and 2 * 63 * 127 for codes.
//
// A 32-element format has
//   quants(block)   32 bytes, element i in byte i
//   scale(block), minimum(block)   eight equal lanes
// A superblock format has
//   Prepared, prepare(block)   scales: 16-bit scale j of sub-block j (of 16), the even ones in
//                              the lower and the odd ones in the upper half, so that one shuffle
//                              yields the operand of a chunk of 32 elements; offsets: what to
//                              multiply the sums of the 16 activations with, in order
//   quants<chunk>(block)       32 bytes
//   kOffset   kNone; kCodes: subtract scale * offsets; kMinima: subtract minimum * offsets
//
// Implementation header: in an unnamed namespace, see float_formats.h.
#pragma once

#include "plugins/cpu/kernels/avx2_vectors.h"
#include "plugins/cpu/kernels/block_layouts.h"
#include "plugins/cpu/kernels/float_formats.h"

namespace halogen::cpu::avx2 {
namespace {

inline __m256i low_nibbles(__m256i bytes) {
  return _mm256_and_si256(bytes, _mm256_set1_epi8(0xf));
}

// 16 bytes to 32: low nibbles first, then the high ones.
inline __m256i spread_nibbles(const uint8_t* nibbles) {
  const __m128i packed = load_half_bytes(nibbles);
  return low_nibbles(_mm256_set_m128i(_mm_srli_epi16(packed, 4), packed));
}

inline __m256i look_up(__m256i codes, const int8_t (&values)[16]) {
  return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(load_half_bytes(values)), codes);
}

// Byte i becomes 16 where bit i is set, else 0.
inline __m256i spread_fifth_bits(const uint8_t (&fifth_bits)[4]) {
  int bits;
  std::memcpy(&bits, fifth_bits, sizeof bits);
  const __m256i byte_of_element = _mm256_setr_epi64x(0x0000000000000000, 0x0101010101010101,
                                                     0x0202020202020202, 0x0303030303030303);
  const __m256i bit_of_element = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201u));
  const __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(bits), byte_of_element);
  const __m256i set = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit_of_element), bit_of_element);
  return _mm256_and_si256(set, _mm256_set1_epi8(16));
}

// --- 32 elements
// -----------------------------------------------------------------------------------

struct Q4_0 {
  using Block = BlockQ4_0;
  static constexpr bool kSigned = true;
  static constexpr bool kHasMinimum = false;
  static __m256i quants(const Block& b) {
    return _mm256_sub_epi8(spread_nibbles(b.nibbles), _mm256_set1_epi8(8));
  }
  static __m256 scale(const Block& b) { return broadcast_f16(b.scale); }
};

struct Q4_1 {
  using Block = BlockQ4_1;
  static constexpr bool kSigned = false;
  static constexpr bool kHasMinimum = true;
  static __m256i quants(const Block& b) { return spread_nibbles(b.nibbles); }
  static __m256 scale(const Block& b) { return broadcast_f16(b.scale); }
  static __m256 minimum(const Block& b) { return broadcast_f16(b.minimum); }
};

struct Q5_0 {
  using Block = BlockQ5_0;
  static constexpr bool kSigned = true;
  static constexpr bool kHasMinimum = false;
  static __m256i quants(const Block& b) {
    const __m256i codes =
        _mm256_or_si256(spread_nibbles(b.nibbles), spread_fifth_bits(b.fifth_bits));
    return _mm256_sub_epi8(codes, _mm256_set1_epi8(16));
  }
  static __m256 scale(const Block& b) { return broadcast_f16(b.scale); }
};

struct Q5_1 {
  using Block = BlockQ5_1;
  static constexpr bool kSigned = false;
  static constexpr bool kHasMinimum = true;
  static __m256i quants(const Block& b) {
    return _mm256_or_si256(spread_nibbles(b.nibbles), spread_fifth_bits(b.fifth_bits));
  }
  static __m256 scale(const Block& b) { return broadcast_f16(b.scale); }
  static __m256 minimum(const Block& b) { return broadcast_f16(b.minimum); }
};

struct Q8_0 {
  using Block = BlockQ8_0;
  static constexpr bool kSigned = true;
  static constexpr bool kHasMinimum = false;
  static __m256i quants(const Block& b) { return load_bytes(b.q); }
  static __m256 scale(const Block& b) { return broadcast_f16(b.scale); }
};

struct IQ4_NL {
  using Block = BlockIQ4_NL;
  static constexpr bool kSigned = true;
  static constexpr bool kHasMinimum = false;
  static __m256i quants(const Block& b) { return look_up(spread_nibbles(b.nibbles), kIq4Values); }
  static __m256 scale(const Block& b) { return broadcast_f16(b.scale); }
};

struct MXFP4 {
  using Block = BlockMXFP4;
  static constexpr bool kSigned = true;
  static constexpr bool kHasMinimum = false;
  static __m256i quants(const Block& b) { return look_up(spread_nibbles(b.nibbles), kMxfp4Values); }
  static __m256 scale(const Block& b) { return _mm256_set1_ps(half_of_e8m0(b.exponent)); }
};

// --- 256 elements
// ----------------------------------------------------------------------------------

enum class Offset { kNone, kCodes, kMinima };

struct PreparedScales {
  __m256i scales;
  __m256i offsets;
};

// 16 scales in order -> the even ones in the lower half, the odd ones in the upper.
inline __m256i part_even_and_odd(__m256i scales) {
  const __m256i within_half =
      _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15,  //
                       0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
  return _mm256_permute4x64_epi64(_mm256_shuffle_epi8(scales, within_half), 0b11'01'10'00);
}

// The scale operand of a chunk: its first scale eight times, then its second one eight times.
template <int Chunk>
inline __m256i scales_of(const PreparedScales& prepared) {
  return _mm256_shuffle_epi8(
      prepared.scales, _mm256_set1_epi16(static_cast<short>((2 * Chunk + 1) << 8 | 2 * Chunk)));
}

inline __m256i two_bits(__m256i bytes, int shift) {
  return _mm256_and_si256(_mm256_srli_epi16(bytes, shift), _mm256_set1_epi8(3));
}

// Bit From of each byte, moved to bit To, alone.
template <int From, int To>
inline __m256i move_bit(__m256i bytes) {
  const __m256i moved =
      From > To ? _mm256_srli_epi16(bytes, From - To) : _mm256_slli_epi16(bytes, To - From);
  return _mm256_and_si256(moved, _mm256_set1_epi8(1 << To));
}

// Q4_K and Q5_K: the layout is explained at unpack_six_bit_pairs (block_unpack.h); here four scales
// at a time in a 32-bit word.
inline PreparedScales prepare_six_bit_pairs(const uint8_t (&packed)[12]) {
  uint32_t word[3];
  std::memcpy(word, packed, sizeof word);
  const uint64_t scales_low = word[0] & 0x3f3f3f3fu;
  const uint64_t minima_low = word[1] & 0x3f3f3f3fu;
  const uint64_t scales_high = (word[2] & 0x0f0f0f0fu) | (word[0] >> 6 & 0x03030303u) << 4;
  const uint64_t minima_high = (word[2] >> 4 & 0x0f0f0f0fu) | (word[1] >> 6 & 0x03030303u) << 4;
  const __m128i scales = _mm_cvtsi64_si128(static_cast<long long>(scales_high << 32 | scales_low));
  const __m128i minima = _mm_cvtsi64_si128(static_cast<long long>(minima_high << 32 | minima_low));
  return {_mm256_broadcastsi128_si256(_mm_cvtepu8_epi16(scales)),
          _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(minima, minima))};
}

struct Q2_K {
  using Block = BlockQ2_K;
  static constexpr bool kSigned = false;
  static constexpr Offset kOffset = Offset::kMinima;
  static PreparedScales prepare(const Block& b) {
    const __m128i packed = load_half_bytes(b.scales);
    const __m128i nibble = _mm_set1_epi8(0xf);
    return {part_even_and_odd(_mm256_cvtepu8_epi16(_mm_and_si128(packed, nibble))),
            _mm256_cvtepu8_epi16(_mm_and_si128(_mm_srli_epi16(packed, 4), nibble))};
  }
  template <int Chunk>
  static __m256i quants(const Block& b) {
    return two_bits(load_bytes(b.pairs + 32 * (Chunk / 4)), 2 * (Chunk % 4));
  }
};

struct Q3_K {
  using Block = BlockQ3_K;
  static constexpr bool kSigned = false;
  static constexpr Offset kOffset = Offset::kCodes;
  static PreparedScales prepare(const Block& b) {
    uint32_t word[3];
    std::memcpy(word, b.scales, sizeof word);
    const __m128i low = _mm_setr_epi32(
        static_cast<int>(word[0] & 0x0f0f0f0fu), static_cast<int>(word[1] & 0x0f0f0f0fu),
        static_cast<int>(word[0] >> 4 & 0x0f0f0f0fu), static_cast<int>(word[1] >> 4 & 0x0f0f0f0fu));
    const __m128i high = _mm_and_si128(
        _mm_srlv_epi32(_mm_set1_epi32(static_cast<int>(word[2])), _mm_setr_epi32(0, 2, 4, 6)),
        _mm_set1_epi8(3));
    const __m128i scales =
        _mm_sub_epi8(_mm_or_si128(low, _mm_slli_epi16(high, 4)), _mm_set1_epi8(32));
    const __m256i wide = _mm256_cvtepi8_epi16(scales);
    return {part_even_and_odd(wide), _mm256_slli_epi16(wide, 2)};
  }
  template <int Chunk>
  static __m256i quants(const Block& b) {
    const __m256i low = two_bits(load_bytes(b.pairs + 32 * (Chunk / 4)), 2 * (Chunk % 4));
    return _mm256_or_si256(low, move_bit<Chunk, 2>(load_bytes(b.third_bits)));
  }
};

template <int Chunk>
inline __m256i chunk_nibbles(const uint8_t (&nibbles)[128]) {
  const __m256i packed = load_bytes(nibbles + 32 * (Chunk / 2));
  return low_nibbles(Chunk % 2 ? _mm256_srli_epi16(packed, 4) : packed);
}

struct Q4_K {
  using Block = BlockQ4_K;
  static constexpr bool kSigned = false;
  static constexpr Offset kOffset = Offset::kMinima;
  static PreparedScales prepare(const Block& b) { return prepare_six_bit_pairs(b.scales); }
  template <int Chunk>
  static __m256i quants(const Block& b) {
    return chunk_nibbles<Chunk>(b.nibbles);
  }
};

struct Q5_K {
  using Block = BlockQ5_K;
  static constexpr bool kSigned = false;
  static constexpr Offset kOffset = Offset::kMinima;
  static PreparedScales prepare(const Block& b) { return prepare_six_bit_pairs(b.scales); }
  template <int Chunk>
  static __m256i quants(const Block& b) {
    return _mm256_or_si256(chunk_nibbles<Chunk>(b.nibbles),
                           move_bit<Chunk, 4>(load_bytes(b.fifth_bits)));
  }
};

struct Q6_K {
  using Block = BlockQ6_K;
  static constexpr bool kSigned = false;
  static constexpr Offset kOffset = Offset::kCodes;
  static PreparedScales prepare(const Block& b) {
    const __m256i wide = _mm256_cvtepi8_epi16(load_half_bytes(b.scales));
    return {part_even_and_odd(wide), _mm256_slli_epi16(wide, 5)};
  }
  template <int Chunk>
  static __m256i quants(const Block& b) {
    constexpr int kHalf = Chunk / 4;
    constexpr int kPart = Chunk % 4;
    const __m256i packed = load_bytes(b.nibbles + 64 * kHalf + 32 * (kPart % 2));
    const __m256i low = low_nibbles(kPart < 2 ? packed : _mm256_srli_epi16(packed, 4));
    const __m256i high = two_bits(load_bytes(b.pairs + 32 * kHalf), 2 * kPart);
    return _mm256_or_si256(low, _mm256_slli_epi16(high, 4));
  }
};

struct IQ4_XS {
  using Block = BlockIQ4_XS;
  static constexpr bool kSigned = true;
  static constexpr Offset kOffset = Offset::kNone;
  static PreparedScales prepare(const Block& b) {
    int low_bits;
    std::memcpy(&low_bits, b.scales_low, sizeof low_bits);
    const __m256i low =
        _mm256_and_si256(_mm256_srlv_epi32(_mm256_set1_epi32(low_bits),
                                           _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28)),
                         _mm256_set1_epi32(0xf));
    const __m256i high =
        _mm256_and_si256(_mm256_srlv_epi32(_mm256_set1_epi32(b.scales_high),
                                           _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14)),
                         _mm256_set1_epi32(3));
    const __m256i scales =
        _mm256_sub_epi32(_mm256_or_si256(low, _mm256_slli_epi32(high, 4)), _mm256_set1_epi32(32));
    const __m128i narrow =
        _mm_packs_epi32(_mm256_castsi256_si128(scales), _mm256_extracti128_si256(scales, 1));
    return {_mm256_broadcastsi128_si256(narrow), _mm256_setzero_si256()};
  }
  template <int Chunk>
  static __m256i quants(const Block& b) {
    return look_up(spread_nibbles(b.nibbles + 16 * Chunk), kIq4Values);
  }
};

}  // namespace
}  // namespace halogen::cpu::avx2
