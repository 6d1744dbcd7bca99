// How the blocks of eight rows, Rows or a Panel, become operands of the AVX2 integer products.
//
// Codes come four elements to a lane: byte j of lane r of vector i is element 4 i + j of row r.
// maddubs multiplies unsigned by signed bytes and adds neighbours into 16 bits. Where the codes are
// small they are kept non-negative and are the unsigned operand (kSigned false); the others are
// signed, and their signs are moved over to the activations. kLargestCode is the largest magnitude:
// it tells how many of these sums fit 16 bits.
//
// A 32-element format has
//   unpack(rows, codes), scales(rows, scale, minimum)
//   kOffset           what each code holds too much
//   kHasMinimum
// A superblock format has
//   scales(rows, out)
//   visit(rows, sink) calls sink(j, codes) for elements 16 j ... 16 j + 15, in any order of j
//   kSubBlock         elements that share a small scale: 16 or 32
//   kOffset           what the offsets of its scales are for
//
// Implementation header: in an unnamed namespace, see float_formats.h.
#pragma once

#include <cstddef>

#include "plugins/cpu/kernels/avx2_rows.h"
#include "plugins/cpu/kernels/block_layouts.h"

namespace halogen::cpu::avx2 {
namespace {

inline __m256i low_nibbles(__m256i bytes) {
  return _mm256_and_si256(bytes, _mm256_set1_epi8(0xf));
}

inline __m256i high_nibbles(__m256i bytes) {
  return low_nibbles(_mm256_srli_epi16(bytes, 4));
}

inline __m256i look_up(__m256i codes, const int8_t (&values)[16]) {
  return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(load_half_bytes(values)), codes);
}

// --- 32 elements
// -----------------------------------------------------------------------------------

template <class Source>
[[gnu::always_inline]] inline void unpack_nibbles(const Source& rows, size_t offset,
                                                  __m256i (&codes)[8]) {
  __m256i packed[4];
  transpose_16_bytes(rows, offset, packed);
  for (int i = 0; i < 4; ++i) {
    codes[i] = low_nibbles(packed[i]);
    codes[i + 4] = high_nibbles(packed[i]);
  }
}

// Bit i of a lane of fifth_bits belongs to element i of its row.
template <class Block, class Source>
[[gnu::always_inline]] inline void unpack_five_bits(const Source& rows, __m256i (&codes)[8]) {
  unpack_nibbles(rows, offsetof(Block, nibbles), codes);
  const __m256i bits = gather<int>(rows, offsetof(Block, fifth_bits));
  const __m256i bit_of_byte = _mm256_set1_epi32(0x08040201);
  const __m256i sixteen_if_set =
      _mm256_setr_epi8(0, 16, 16, 0, 16, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0,  //
                       0, 16, 16, 0, 16, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0);
  const __m256i lane_begin = _mm256_setr_epi32(0, 0x04040404, 0x08080808, 0x0c0c0c0c,  //
                                               0, 0x04040404, 0x08080808, 0x0c0c0c0c);
  unroll<4>([&](auto i) {
    const __m256i byte =
        _mm256_shuffle_epi8(bits, _mm256_add_epi8(lane_begin, _mm256_set1_epi8(i)));
    const __m256i low = _mm256_and_si256(byte, bit_of_byte);
    const __m256i high = _mm256_and_si256(_mm256_srli_epi16(byte, 4), bit_of_byte);
    codes[2 * i] = _mm256_or_si256(codes[2 * i], _mm256_shuffle_epi8(sixteen_if_set, low));
    codes[2 * i + 1] = _mm256_or_si256(codes[2 * i + 1], _mm256_shuffle_epi8(sixteen_if_set, high));
  });
}

// Two F16 in each lane: the lower ones and the upper ones, as F32.
inline void split_f16_pairs(__m256i pairs, __m256& lower, __m256& upper) {
  const __m256i within_half =
      _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15,  //
                       0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
  const __m256i parted =
      _mm256_permute4x64_epi64(_mm256_shuffle_epi8(pairs, within_half), 0b11'01'10'00);
  lower = _mm256_cvtph_ps(_mm256_castsi256_si128(parted));
  upper = _mm256_cvtph_ps(_mm256_extracti128_si256(parted, 1));
}

// What most of these formats have in common.
template <class BlockType, int LargestCode, int CodeOffset>
struct BlockFormat {
  using Block = BlockType;
  static constexpr bool kSigned = LargestCode > 63;
  static constexpr int kLargestCode = LargestCode;
  static constexpr int kOffset = CodeOffset;
  static constexpr bool kHasMinimum = requires(Block block) { block.minimum; };
  // `minimum` only where there is one.
  template <class Source>
  static void scales(const Source& rows, __m256& scale, __m256& minimum) {
    if constexpr (kHasMinimum)
      split_f16_pairs(gather<int>(rows, offsetof(Block, scale)), scale, minimum);
    else
      scale = gather_f16(rows, offsetof(Block, scale));
  }
};

struct Q4_0 : BlockFormat<BlockQ4_0, 15, 8> {
  template <class Source>
  [[gnu::always_inline]] static inline void unpack(const Source& rows, __m256i (&codes)[8]) {
    unpack_nibbles(rows, offsetof(Block, nibbles), codes);
  }
};

struct Q4_1 : BlockFormat<BlockQ4_1, 15, 0> {
  template <class Source>
  [[gnu::always_inline]] static inline void unpack(const Source& rows, __m256i (&codes)[8]) {
    unpack_nibbles(rows, offsetof(Block, nibbles), codes);
  }
};

struct Q5_0 : BlockFormat<BlockQ5_0, 31, 16> {
  template <class Source>
  [[gnu::always_inline]] static inline void unpack(const Source& rows, __m256i (&codes)[8]) {
    unpack_five_bits<Block>(rows, codes);
  }
};

struct Q5_1 : BlockFormat<BlockQ5_1, 31, 0> {
  template <class Source>
  [[gnu::always_inline]] static inline void unpack(const Source& rows, __m256i (&codes)[8]) {
    unpack_five_bits<Block>(rows, codes);
  }
};

struct Q8_0 : BlockFormat<BlockQ8_0, 128, 0> {
  template <class Source>
  [[gnu::always_inline]] static inline void unpack(const Source& rows, __m256i (&codes)[8]) {
    for (int half = 0; half < 2; ++half) {
      __m256i four[4];
      transpose_16_bytes(rows, offsetof(Block, q) + 16 * half, four);
      for (int i = 0; i < 4; ++i) codes[4 * half + i] = four[i];
    }
  }
};

struct IQ4_NL : BlockFormat<BlockIQ4_NL, 127, 0> {
  template <class Source>
  [[gnu::always_inline]] static inline void unpack(const Source& rows, __m256i (&codes)[8]) {
    unpack_nibbles(rows, offsetof(Block, nibbles), codes);
    for (__m256i& code : codes) code = look_up(code, kIq4Values);
  }
};

struct MXFP4 : BlockFormat<BlockMXFP4, 24, 12> {
  template <class Source>
  [[gnu::always_inline]] static inline void unpack(const Source& rows, __m256i (&codes)[8]) {
    unpack_nibbles(rows, offsetof(Block, nibbles), codes);
    const __m256i values = _mm256_add_epi8(
        _mm256_broadcastsi128_si256(load_half_bytes(kMxfp4Values)), _mm256_set1_epi8(kOffset));
    for (__m256i& code : codes) code = _mm256_shuffle_epi8(values, code);
  }
  // half_of_e8m0 of each row.
  template <class Source>
  static void scales(const Source& rows, __m256& scale, __m256& /*minimum*/) {
    const __m256i exponent = gather<uint8_t>(rows, offsetof(Block, exponent));
    const __m256i normal = _mm256_slli_epi32(_mm256_sub_epi32(exponent, _mm256_set1_epi32(1)), 23);
    const __m256i subnormal = _mm256_sllv_epi32(_mm256_set1_epi32(0x00200000), exponent);
    const __m256i is_normal = _mm256_cmpgt_epi32(exponent, _mm256_set1_epi32(1));
    scale = _mm256_castsi256_ps(_mm256_blendv_epi8(subnormal, normal, is_normal));
  }
};

// --- 256 elements
// ----------------------------------------------------------------------------------

enum class Offset { kNone, kCodes, kMinima };

template <int SubBlock>
struct SuperBlockScales {
  __m256i of[kSuperBlock / SubBlock];  // of sub-block j, in both halves of each lane
  // What the sums of 16 activations are multiplied with: 2 i in the lower half of each lane of
  // vector i, 2 i + 1 in the upper one. Offset::kCodes: what the codes hold too much, to be
  // subtracted from the products; Offset::kMinima: the small integers that `minimum` multiplies.
  __m256i offsets[8];
  __m256 scale;
  __m256 minimum;
};

// Byte `first` of each lane in its lower half, byte `second` in its upper one; zero-extended.
template <int First, int Second>
inline __m256i unsigned_pair(__m256i bytes) {
  constexpr int kLane = static_cast<int>(0x80008000u | Second << 16 | First);
  const __m256i lane_begin = _mm256_setr_epi32(0, 0x00040004, 0x00080008, 0x000c000c,  //
                                               0, 0x00040004, 0x00080008, 0x000c000c);
  return _mm256_shuffle_epi8(bytes, _mm256_add_epi32(lane_begin, _mm256_set1_epi32(kLane)));
}

// The same, sign-extended and multiplied by 2^Shift.
template <int First, int Second, int Shift = 0>
inline __m256i signed_pair(__m256i bytes) {
  return _mm256_srai_epi16(_mm256_slli_epi16(unsigned_pair<First, Second>(bytes), 8), 8 - Shift);
}

// Bits From ... From + Bits - 1 of each byte, moved to bit To, alone.
template <int From, int To, int Bits>
inline __m256i move_bits(__m256i bytes) {
  const __m256i moved =
      From > To ? _mm256_srli_epi16(bytes, From - To) : _mm256_slli_epi16(bytes, To - From);
  return _mm256_and_si256(moved, _mm256_set1_epi8(static_cast<char>(((1 << Bits) - 1) << To)));
}

inline __m256i masked(__m256i words, uint32_t mask) {
  return _mm256_and_si256(words, _mm256_set1_epi32(static_cast<int>(mask)));
}

// Q4_K and Q5_K begin with 16 bytes of scales; how they are packed is explained at
// unpack_six_bit_pairs (block_unpack.h).
template <class Source>
[[gnu::always_inline]] inline void unpack_scales_of_32(const Source& rows,
                                                       SuperBlockScales<32>& out) {
  __m256i word[4];
  transpose_16_bytes(rows, 0, word);
  split_f16_pairs(word[0], out.scale, out.minimum);
  const __m256i scales[2] = {
      masked(word[1], 0x3f3f3f3fu),
      _mm256_or_si256(masked(word[3], 0x0f0f0f0fu),
                      _mm256_slli_epi16(masked(_mm256_srli_epi16(word[1], 6), 0x03030303u), 4))};
  const __m256i minima[2] = {
      masked(word[2], 0x3f3f3f3fu),
      _mm256_or_si256(masked(_mm256_srli_epi16(word[3], 4), 0x0f0f0f0fu),
                      _mm256_slli_epi16(masked(_mm256_srli_epi16(word[2], 6), 0x03030303u), 4))};
  unroll<8>([&](auto j) {
    out.of[j] = unsigned_pair<j % 4, j % 4>(scales[j / 4]);
    out.offsets[j] = unsigned_pair<j % 4, j % 4>(minima[j / 4]);
  });
}

template <class BlockType, int LargestCode, int SubBlock, Offset OffsetKind>
struct SuperBlockFormat {
  using Block = BlockType;
  static constexpr bool kSigned = LargestCode > 63;
  static constexpr int kLargestCode = LargestCode;
  static constexpr int kSubBlock = SubBlock;
  static constexpr Offset kOffset = OffsetKind;
};

struct Q2_K : SuperBlockFormat<BlockQ2_K, 3, 16, Offset::kMinima> {
  template <class Source>
  [[gnu::always_inline]] static inline void scales(const Source& rows, SuperBlockScales<16>& out) {
    __m256i packed[4];
    transpose_16_bytes(rows, offsetof(Block, scales), packed);
    unroll<16>(
        [&](auto j) { out.of[j] = unsigned_pair<j % 4, j % 4>(low_nibbles(packed[j / 4])); });
    unroll<8>([&](auto i) {
      out.offsets[i] = unsigned_pair<2 * i % 4, 2 * i % 4 + 1>(high_nibbles(packed[i / 2]));
    });
    split_f16_pairs(gather<int>(rows, offsetof(Block, scale)), out.scale, out.minimum);
  }
  template <class Source, class Sink>
  [[gnu::always_inline]] static inline void visit(const Source& rows, Sink&& sink) {
    for (int piece = 0; piece < 4; ++piece) {
      __m256i packed[4];
      transpose_16_bytes(rows, offsetof(Block, pairs) + 16 * piece, packed);
      unroll<4>([&](auto c) __attribute__((always_inline)) {
        __m256i codes[4];
        for (int i = 0; i < 4; ++i) codes[i] = move_bits<2 * c, 0, 2>(packed[i]);
        sink(8 * (piece / 2) + 2 * c + piece % 2, codes);
      });
    }
  }
};

struct Q3_K : SuperBlockFormat<BlockQ3_K, 7, 16, Offset::kCodes> {
  template <class Source>
  [[gnu::always_inline]] static inline void scales(const Source& rows, SuperBlockScales<16>& out) {
    __m256i word[3];
    for (int i = 0; i < 3; ++i) word[i] = gather<int>(rows, offsetof(Block, scales) + 4 * i);
    unroll<4>([&](auto part) {
      const __m256i low = part < 2 ? low_nibbles(word[part % 2]) : high_nibbles(word[part % 2]);
      const __m256i biased = _mm256_or_si256(low, move_bits<2 * part, 4, 2>(word[2]));
      const __m256i four = _mm256_sub_epi8(biased, _mm256_set1_epi8(32));
      unroll<4>([&](auto j) { out.of[4 * part + j] = signed_pair<j, j>(four); });
      unroll<2>(
          [&](auto i) { out.offsets[2 * part + i] = signed_pair<2 * i, 2 * i + 1, 2>(four); });
    });
    out.scale = gather_f16(rows, offsetof(Block, scale));
  }
  template <class Source, class Sink>
  [[gnu::always_inline]] static inline void visit(const Source& rows, Sink&& sink) {
    for (int half = 0; half < 2; ++half) {
      __m256i third_bits[4];
      transpose_16_bytes(rows, offsetof(Block, third_bits) + 16 * half, third_bits);
      unroll<2>([&](auto upper) __attribute__((always_inline)) {
        __m256i packed[4];
        transpose_16_bytes(rows, offsetof(Block, pairs) + 32 * upper + 16 * half, packed);
        unroll<4>([&](auto c) __attribute__((always_inline)) {
          __m256i codes[4];
          for (int i = 0; i < 4; ++i)
            codes[i] = _mm256_or_si256(move_bits<2 * c, 0, 2>(packed[i]),
                                       move_bits<4 * upper + c, 2, 1>(third_bits[i]));
          sink(8 * upper + 2 * c + half, codes);
        });
      });
    }
  }
};

struct Q4_K : SuperBlockFormat<BlockQ4_K, 15, 32, Offset::kMinima> {
  template <class Source>
  [[gnu::always_inline]] static inline void scales(const Source& rows, SuperBlockScales<32>& out) {
    unpack_scales_of_32(rows, out);
  }
  template <class Source, class Sink>
  [[gnu::always_inline]] static inline void visit(const Source& rows, Sink&& sink) {
    for (int piece = 0; piece < 8; ++piece) {
      const int low = 4 * (piece / 2) + piece % 2;
      __m256i packed[4];
      transpose_16_bytes(rows, offsetof(Block, nibbles) + 16 * piece, packed);
      __m256i codes[4];
      for (int i = 0; i < 4; ++i) codes[i] = low_nibbles(packed[i]);
      sink(low, codes);
      for (int i = 0; i < 4; ++i) codes[i] = high_nibbles(packed[i]);
      sink(low + 2, codes);
    }
  }
};

struct Q5_K : SuperBlockFormat<BlockQ5_K, 31, 32, Offset::kMinima> {
  template <class Source>
  [[gnu::always_inline]] static inline void scales(const Source& rows, SuperBlockScales<32>& out) {
    unpack_scales_of_32(rows, out);
  }
  template <class Source, class Sink>
  [[gnu::always_inline]] static inline void visit(const Source& rows, Sink&& sink) {
    for (int half = 0; half < 2; ++half) {
      __m256i fifth_bits[4];
      transpose_16_bytes(rows, offsetof(Block, fifth_bits) + 16 * half, fifth_bits);
      unroll<4>([&](auto chunk) __attribute__((always_inline)) {
        __m256i packed[4];
        transpose_16_bytes(rows, offsetof(Block, nibbles) + 32 * chunk + 16 * half, packed);
        __m256i codes[4];
        for (int i = 0; i < 4; ++i)
          codes[i] =
              _mm256_or_si256(low_nibbles(packed[i]), move_bits<2 * chunk, 4, 1>(fifth_bits[i]));
        sink(4 * chunk + half, codes);
        for (int i = 0; i < 4; ++i)
          codes[i] = _mm256_or_si256(high_nibbles(packed[i]),
                                     move_bits<2 * chunk + 1, 4, 1>(fifth_bits[i]));
        sink(4 * chunk + 2 + half, codes);
      });
    }
  }
};

struct Q6_K : SuperBlockFormat<BlockQ6_K, 63, 16, Offset::kCodes> {
  template <class Source>
  [[gnu::always_inline]] static inline void scales(const Source& rows, SuperBlockScales<16>& out) {
    __m256i four[4];
    transpose_16_bytes(rows, offsetof(Block, scales), four);
    unroll<16>([&](auto j) { out.of[j] = signed_pair<j % 4, j % 4>(four[j / 4]); });
    unroll<8>(
        [&](auto i) { out.offsets[i] = signed_pair<2 * i % 4, 2 * i % 4 + 1, 5>(four[i / 2]); });
    out.scale = gather_f16(rows, offsetof(Block, scale));
  }
  template <class Source, class Sink>
  [[gnu::always_inline]] static inline void visit(const Source& rows, Sink&& sink) {
    for (int piece = 0; piece < 4; ++piece) {
      const int half = piece / 2;
      const size_t nibbles = offsetof(Block, nibbles) + 64 * half + 16 * (piece % 2);
      __m256i pairs[4];
      transpose_16_bytes(rows, offsetof(Block, pairs) + 16 * piece, pairs);
      unroll<2>([&](auto part) __attribute__((always_inline)) {
        const int low = 8 * half + 2 * part + piece % 2;
        __m256i packed[4];
        transpose_16_bytes(rows, nibbles + 32 * part, packed);
        __m256i codes[4];
        for (int i = 0; i < 4; ++i)
          codes[i] = _mm256_or_si256(low_nibbles(packed[i]), move_bits<2 * part, 4, 2>(pairs[i]));
        sink(low, codes);
        for (int i = 0; i < 4; ++i)
          codes[i] =
              _mm256_or_si256(high_nibbles(packed[i]), move_bits<2 * part + 4, 4, 2>(pairs[i]));
        sink(low + 4, codes);
      });
    }
  }
};

struct IQ4_XS : SuperBlockFormat<BlockIQ4_XS, 127, 32, Offset::kNone> {
  template <class Source>
  [[gnu::always_inline]] static inline void scales(const Source& rows, SuperBlockScales<32>& out) {
    static_assert(offsetof(Block, scale) == 0 && offsetof(Block, scales_high) == 2);
    const __m256i first = gather<int>(rows, 0);
    const __m256i low = gather<int>(rows, offsetof(Block, scales_low));
    const __m256i high = _mm256_srli_epi32(first, 16);
    unroll<8>([&](auto j) {
      const __m256i upper = _mm256_slli_epi32(masked(_mm256_srli_epi32(high, 2 * j), 3), 4);
      const __m256i biased = _mm256_or_si256(masked(_mm256_srli_epi32(low, 4 * j), 0xf), upper);
      const __m256i in_both = _mm256_or_si256(biased, _mm256_slli_epi32(biased, 16));
      out.of[j] = _mm256_sub_epi16(in_both, _mm256_set1_epi16(32));
    });
    __m256 unused;
    split_f16_pairs(first, out.scale, unused);
  }
  template <class Source, class Sink>
  [[gnu::always_inline]] static inline void visit(const Source& rows, Sink&& sink) {
    for (int chunk = 0; chunk < 8; ++chunk) {
      __m256i packed[4];
      transpose_16_bytes(rows, offsetof(Block, nibbles) + 16 * chunk, packed);
      __m256i codes[4];
      for (int i = 0; i < 4; ++i) codes[i] = look_up(low_nibbles(packed[i]), kIq4Values);
      sink(2 * chunk, codes);
      for (int i = 0; i < 4; ++i) codes[i] = look_up(high_nibbles(packed[i]), kIq4Values);
      sink(2 * chunk + 1, codes);
    }
  }
};

}  // namespace
}  // namespace halogen::cpu::avx2
