// How the quantised formats become operands of the AVX-512 integer products.
//
// vpdpbusd multiplies unsigned by signed bytes and adds four neighbours to a 32-bit lane. The lanes
// are rows; the unsigned operand is codes[i]: elements 4 i to 4 i + 3 of each row. Signed codes are
// made unsigned by adding a power of two, whose part of the sum is taken away again: it is that
// power times the sum of the activations.
//
// A 32-element format has
//   kOffsetBits        codes hold 2^kOffsetBits too much; 0: nothing
//   kHasMinimum
// and static void unpack(rows, PanelBlock& out).
//
// A superblock format has
//   kSubBlock          elements that share a scale: 16 or 32
//   kOffset            what the sums of 16 activations are multiplied with: kCodes, the scales
//   times
//                      what the codes hold too much, negative; kMinima, the minima
//   static void scales(rows, SuperBlockScales& out)
//   static void visit(rows, sink)   calls sink(j, codes) for elements 32 j to 32 j + 31, in any
//   order
//                                   of j
// Both have Block. rows is Rows or a Panel.
//
// Implementation header: in an unnamed namespace, see float_formats.h.
#pragma once

#include "plugins/cpu/kernels/avx512_vectors.h"
#include "plugins/cpu/kernels/block_layouts.h"
#include "plugins/cpu/kernels/float_formats.h"
#include "plugins/cpu/kernels/unroll.h"

namespace halogen::cpu::avx512 {
namespace {

// --- 32 elements
// -----------------------------------------------------------------------------------

struct PanelBlock {
  __m512i codes[kBlock / 4];
  __m512 scale;
  __m512 minimum;  // where the format has one
};

template <class Source>
inline __attribute__((always_inline)) void unpack_nibbles(const Source& rows, size_t offset,
                                                          __m512i* codes) {
  __m512i packed[4];
  transpose(rows, offset, packed);
  for (int i = 0; i < 4; ++i) {
    codes[i] = low_nibbles(packed[i]);
    codes[4 + i] = high_nibbles(packed[i]);
  }
}

// Adds 16 to the codes whose bit is set; bit e of a lane belongs to element e.
inline __attribute__((always_inline)) void add_fifth_bits(__m512i bits, __m512i* codes) {
  unroll<8>([&](auto i) __attribute__((always_inline)) {
    const __m512i byte = pick_bytes<0x01010101u * (i / 2)>(bits);
    const __mmask64 set = _mm512_test_epi8_mask(
        byte, _mm512_set1_epi32(static_cast<int>(i % 2 ? 0x80402010u : 0x08040201u)));
    codes[i] = _mm512_mask_add_epi8(codes[i], set, codes[i], _mm512_set1_epi8(16));
  });
}

// The values for codes of 4 bits, plus `offset`.
inline __m512i look_up(__m512i codes, const int8_t (&values)[16], int offset) {
  const __m128i table = _mm_add_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(values)),
                                     _mm_set1_epi8(static_cast<char>(offset)));
  return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(table), codes);
}

struct Q4_0 {
  using Block = BlockQ4_0;
  static constexpr int kOffsetBits = 3;
  static constexpr bool kHasMinimum = false;
  template <class Source>
  [[gnu::always_inline]] static inline void unpack(const Source& rows, PanelBlock& out) {
    unpack_nibbles(rows, offsetof(Block, nibbles), out.codes);
    out.scale = f16(rows, offsetof(Block, scale));
  }
};

struct Q4_1 {
  using Block = BlockQ4_1;
  static constexpr int kOffsetBits = 0;
  static constexpr bool kHasMinimum = true;
  template <class Source>
  [[gnu::always_inline]] static inline void unpack(const Source& rows, PanelBlock& out) {
    unpack_nibbles(rows, offsetof(Block, nibbles), out.codes);
    const __m512i floats = words(rows, offsetof(Block, scale));
    out.scale = low_f16(floats);
    out.minimum = high_f16(floats);
  }
};

struct Q5_0 {
  using Block = BlockQ5_0;
  static constexpr int kOffsetBits = 4;
  static constexpr bool kHasMinimum = false;
  template <class Source>
  [[gnu::always_inline]] static inline void unpack(const Source& rows, PanelBlock& out) {
    unpack_nibbles(rows, offsetof(Block, nibbles), out.codes);
    add_fifth_bits(words(rows, offsetof(Block, fifth_bits)), out.codes);
    out.scale = f16(rows, offsetof(Block, scale));
  }
};

struct Q5_1 {
  using Block = BlockQ5_1;
  static constexpr int kOffsetBits = 0;
  static constexpr bool kHasMinimum = true;
  template <class Source>
  [[gnu::always_inline]] static inline void unpack(const Source& rows, PanelBlock& out) {
    unpack_nibbles(rows, offsetof(Block, nibbles), out.codes);
    add_fifth_bits(words(rows, offsetof(Block, fifth_bits)), out.codes);
    const __m512i floats = words(rows, offsetof(Block, scale));
    out.scale = low_f16(floats);
    out.minimum = high_f16(floats);
  }
};

struct Q8_0 {
  using Block = BlockQ8_0;
  static constexpr int kOffsetBits = 7;
  static constexpr bool kHasMinimum = false;
  template <class Source>
  [[gnu::always_inline]] static inline void unpack(const Source& rows, PanelBlock& out) {
    __m512i quants[8];
    transpose(rows, offsetof(Block, q), quants);
    for (int i = 0; i < 8; ++i) out.codes[i] = _mm512_xor_si512(quants[i], _mm512_set1_epi8(-128));
    out.scale = f16(rows, offsetof(Block, scale));
  }
};

struct IQ4_NL {
  using Block = BlockIQ4_NL;
  static constexpr int kOffsetBits = 7;
  static constexpr bool kHasMinimum = false;
  template <class Source>
  [[gnu::always_inline]] static inline void unpack(const Source& rows, PanelBlock& out) {
    unpack_nibbles(rows, offsetof(Block, nibbles), out.codes);
    for (auto& code : out.codes) code = look_up(code, kIq4Values, 1 << kOffsetBits);
    out.scale = f16(rows, offsetof(Block, scale));
  }
};

// half_of_e8m0 (block_unpack.h) of each row.
inline __m512 half_of_e8m0(__m512i exponent) {
  const __m512i normal = _mm512_slli_epi32(_mm512_sub_epi32(exponent, _mm512_set1_epi32(1)), 23);
  const __m512i subnormal = _mm512_sllv_epi32(_mm512_set1_epi32(0x00200000), exponent);
  const __mmask16 is_normal = _mm512_cmpgt_epi32_mask(exponent, _mm512_set1_epi32(1));
  return _mm512_castsi512_ps(_mm512_mask_mov_epi32(subnormal, is_normal, normal));
}

struct MXFP4 {
  using Block = BlockMXFP4;
  static constexpr int kOffsetBits = 4;
  static constexpr bool kHasMinimum = false;
  template <class Source>
  [[gnu::always_inline]] static inline void unpack(const Source& rows, PanelBlock& out) {
    unpack_nibbles(rows, offsetof(Block, nibbles), out.codes);
    for (auto& code : out.codes) code = look_up(code, kMxfp4Values, 1 << kOffsetBits);
    out.scale = half_of_e8m0(wide_bytes(rows, offsetof(Block, exponent)));
  }
};

// --- 256 elements
// ----------------------------------------------------------------------------------

enum class Offset { kCodes, kMinima };

struct SuperBlockScales {
  __m512i of[16];      // 32-bit, of the sub-blocks
  __m512i offsets[8];  // pairs of 16 bits, for 32 elements
  __m512 scale;
  __m512 minimum;  // where the format has one
};

// Bytes to 32 bits, four lanes' vectors from one.
inline void widen_unsigned(__m512i bytes, __m512i* out) {
  unroll<4>([&](auto j) { out[j] = pick_bytes<(0x80808000u | j)>(bytes); });
}
inline void widen_signed(__m512i bytes, __m512i* out) {
  unroll<4>(
      [&](auto j) { out[j] = _mm512_srai_epi32(pick_bytes<(0x00808080u | j << 24)>(bytes), 24); });
}

// Bytes to 16 bits, in pairs: neighbours, or each one twice.
inline void pair_unsigned(__m512i bytes, __m512i* out) {
  unroll<2>([&](auto p) { out[p] = pick_bytes<0x80018000u + 0x00020002u * p>(bytes); });
}
inline void double_unsigned(__m512i bytes, __m512i* out) {
  unroll<4>([&](auto j) { out[j] = pick_bytes<0x80008000u + 0x00010001u * j>(bytes); });
}
// Signed, times -2^Bits.
template <int Bits>
inline void pair_negative(__m512i bytes, __m512i* out) {
  unroll<2>([&](auto p) {
    const __m512i high = pick_bytes<0x01800080u + 0x02000200u * p>(bytes);
    out[p] = _mm512_sub_epi16(_mm512_setzero_si512(), _mm512_srai_epi16(high, 8 - Bits));
  });
}
inline __m512i two_bits(__m512i bytes, unsigned shift) {
  return _mm512_and_si512(_mm512_srli_epi32(bytes, shift), _mm512_set1_epi8(3));
}

// Bit From of each byte, moved to bit To, alone.
template <int From, int To>
inline __m512i move_bit(__m512i bytes) {
  const __m512i moved = From > To ? _mm512_srli_epi32(bytes, From > To ? From - To : 0)
                                  : _mm512_slli_epi32(bytes, From > To ? 0 : To - From);
  return _mm512_and_si512(moved, _mm512_set1_epi8(1 << To));
}

// The first 16 bytes of Q4_K and Q5_K: both floats, and what unpack_six_bit_pairs (block_unpack.h)
// explains.
template <class Source>
inline void unpack_six_bit_header(const Source& rows, SuperBlockScales& out) {
  static_assert(offsetof(BlockQ4_K, scales) == 4 && offsetof(BlockQ5_K, scales) == 4);
  __m512i header[4];
  transpose(rows, 0, header);
  out.scale = low_f16(header[0]);
  out.minimum = high_f16(header[0]);
  const __m512i six = _mm512_set1_epi8(0x3f);
  const __m512i two = _mm512_set1_epi8(0x30);
  const auto upper = [&](__m512i low, __m512i first) {
    return _mm512_or_si512(low, _mm512_and_si512(_mm512_srli_epi32(first, 2), two));
  };
  widen_unsigned(_mm512_and_si512(header[1], six), out.of);
  widen_unsigned(upper(low_nibbles(header[3]), header[1]), out.of + 4);
  double_unsigned(_mm512_and_si512(header[2], six), out.offsets);
  double_unsigned(upper(high_nibbles(header[3]), header[2]), out.offsets + 4);
}

struct Q2_K {
  using Block = BlockQ2_K;
  static constexpr int kSubBlock = 16;
  static constexpr Offset kOffset = Offset::kMinima;
  template <class Source>
  [[gnu::always_inline]] static inline void scales(const Source& rows, SuperBlockScales& out) {
    __m512i packed[4];
    transpose(rows, offsetof(Block, scales), packed);
    for (int j = 0; j < 4; ++j) {
      widen_unsigned(low_nibbles(packed[j]), out.of + 4 * j);
      pair_unsigned(high_nibbles(packed[j]), out.offsets + 2 * j);
    }
    const __m512i floats = words(rows, offsetof(Block, scale));
    out.scale = low_f16(floats);
    out.minimum = high_f16(floats);
  }
  template <class Source, class Sink>
  [[gnu::always_inline]] static inline void visit(const Source& rows, Sink&& sink) {
    for (int half = 0; half < 2; ++half) {
      __m512i pairs[8];
      transpose(rows, offsetof(Block, pairs) + 32 * half, pairs);
      unroll<4>([&](auto part) __attribute__((always_inline)) {
        __m512i codes[8];
        for (int i = 0; i < 8; ++i) codes[i] = two_bits(pairs[i], 2 * part);
        sink(4 * half + part, codes);
      });
    }
  }
};

struct Q3_K {
  using Block = BlockQ3_K;
  static constexpr int kSubBlock = 16;
  static constexpr Offset kOffset = Offset::kCodes;
  template <class Source>
  [[gnu::always_inline]] static inline void scales(const Source& rows, SuperBlockScales& out) {
    __m512i word[3];
    read_scales(rows, word, out.scale);
    unroll<4>([&](auto j) {
      const __m512i low = j < 2 ? low_nibbles(word[j % 2]) : high_nibbles(word[j % 2]);
      const __m512i high = _mm512_slli_epi32(two_bits(word[2], 2 * j), 4);
      const __m512i biased = _mm512_or_si512(low, high);
      const __m512i four = _mm512_sub_epi8(biased, _mm512_set1_epi8(32));
      widen_signed(four, out.of + 4 * j);
      pair_negative<2>(four, out.offsets + 2 * j);
    });
  }
  template <class Source, class Sink>
  [[gnu::always_inline]] static inline void visit(const Source& rows, Sink&& sink) {
    __m512i third[8];
    transpose(rows, offsetof(Block, third_bits), third);
    unroll<2>([&](auto half) __attribute__((always_inline)) {
      __m512i pairs[8];
      transpose(rows, offsetof(Block, pairs) + 32 * half, pairs);
      unroll<4>([&](auto part) __attribute__((always_inline)) {
        constexpr int kChunk = 4 * half + part;
        __m512i codes[8];
        for (int i = 0; i < 8; ++i)
          codes[i] = _mm512_or_si512(two_bits(pairs[i], 2 * part), move_bit<kChunk, 2>(third[i]));
        sink(kChunk, codes);
      });
    });
  }

 private:
  // The scales' three words.
  static void read_scales(Rows<Block> rows, __m512i (&word)[3], __m512& scale) {
    // The block's last 16 bytes: two that belong to the pairs, the scales, the float.
    static_assert(offsetof(Block, scales) == 96 && offsetof(Block, scale) == 108);
    __m512i end[4];
    transpose(rows, 94, end);
    scale = high_f16(end[3]);
    for (int i = 0; i < 3; ++i)
      word[i] = _mm512_or_si512(_mm512_srli_epi32(end[i], 16), _mm512_slli_epi32(end[i + 1], 16));
  }
  static void read_scales(Panel<Block> panel, __m512i (&word)[3], __m512& scale) {
    for (int i = 0; i < 3; ++i) word[i] = words(panel, offsetof(Block, scales) + 4 * i);
    scale = f16(panel, offsetof(Block, scale));
  }
};

// 64 elements: the low nibbles of 32 bytes, then the high ones; chunks `first` and the next one.
template <class Source, class Sink>
[[gnu::always_inline]] inline void visit_nibble_chunks(const Source& rows, size_t offset, int first,
                                                       Sink&& sink) {
  __m512i packed[8];
  transpose(rows, offset, packed);
  __m512i codes[8];
  for (int i = 0; i < 8; ++i) codes[i] = low_nibbles(packed[i]);
  sink(first, codes);
  for (int i = 0; i < 8; ++i) codes[i] = high_nibbles(packed[i]);
  sink(first + 1, codes);
}

struct Q4_K {
  using Block = BlockQ4_K;
  static constexpr int kSubBlock = 32;
  static constexpr Offset kOffset = Offset::kMinima;
  template <class Source>
  [[gnu::always_inline]] static inline void scales(const Source& rows, SuperBlockScales& out) {
    unpack_six_bit_header(rows, out);
  }
  template <class Source, class Sink>
  [[gnu::always_inline]] static inline void visit(const Source& rows, Sink&& sink) {
    for (int pair = 0; pair < 4; ++pair)
      visit_nibble_chunks(rows, offsetof(Block, nibbles) + 32 * pair, 2 * pair, sink);
  }
};

struct Q5_K {
  using Block = BlockQ5_K;
  static constexpr int kSubBlock = 32;
  static constexpr Offset kOffset = Offset::kMinima;
  template <class Source>
  [[gnu::always_inline]] static inline void scales(const Source& rows, SuperBlockScales& out) {
    unpack_six_bit_header(rows, out);
  }
  template <class Source, class Sink>
  [[gnu::always_inline]] static inline void visit(const Source& rows, Sink&& sink) {
    __m512i fifth[8];
    transpose(rows, offsetof(Block, fifth_bits), fifth);
    unroll<4>([&](auto pair) __attribute__((always_inline)) {
      const auto with_fifth_bits = [&](auto upper,
                                       __m512i(&codes)[8]) __attribute__((always_inline)) {
        for (int i = 0; i < 8; ++i)
          codes[i] = _mm512_or_si512(codes[i], move_bit<2 * pair + upper, 4>(fifth[i]));
      };
      visit_nibble_chunks(rows, offsetof(Block, nibbles) + 32 * pair, 2 * pair,
                          [&](int j, __m512i(&codes)[8]) __attribute__((always_inline)) {
                            if (j % 2 == 0)
                              with_fifth_bits(std::integral_constant<int, 0>(), codes);
                            else
                              with_fifth_bits(std::integral_constant<int, 1>(), codes);
                            sink(j, codes);
                          });
    });
  }
};

struct Q6_K {
  using Block = BlockQ6_K;
  static constexpr int kSubBlock = 16;
  static constexpr Offset kOffset = Offset::kCodes;
  template <class Source>
  [[gnu::always_inline]] static inline void scales(const Source& rows, SuperBlockScales& out) {
    __m512i packed[4];
    transpose(rows, offsetof(Block, scales), packed);
    for (int j = 0; j < 4; ++j) {
      widen_signed(packed[j], out.of + 4 * j);
      pair_negative<5>(packed[j], out.offsets + 2 * j);
    }
    out.scale = f16(rows, offsetof(Block, scale));
  }
  template <class Source, class Sink>
  [[gnu::always_inline]] static inline void visit(const Source& rows, Sink&& sink) {
    for (int half = 0; half < 2; ++half) {
      __m512i high[8];
      transpose(rows, offsetof(Block, pairs) + 32 * half, high);
      unroll<2>([&](auto part) __attribute__((always_inline)) {
        // Chunks part and part + 2 of this half share their bytes of nibbles.
        __m512i packed[8];
        transpose(rows, offsetof(Block, nibbles) + 64 * half + 32 * part, packed);
        __m512i codes[8];
        for (int i = 0; i < 8; ++i)
          codes[i] = _mm512_or_si512(low_nibbles(packed[i]),
                                     _mm512_slli_epi32(two_bits(high[i], 2 * part), 4));
        sink(4 * half + part, codes);
        for (int i = 0; i < 8; ++i)
          codes[i] = _mm512_or_si512(high_nibbles(packed[i]),
                                     _mm512_slli_epi32(two_bits(high[i], 2 * part + 4), 4));
        sink(4 * half + part + 2, codes);
      });
    }
  }
};

struct IQ4_XS {
  using Block = BlockIQ4_XS;
  static constexpr int kSubBlock = 32;
  static constexpr Offset kOffset = Offset::kCodes;
  template <class Source>
  [[gnu::always_inline]] static inline void scales(const Source& rows, SuperBlockScales& out) {
    const __m512i first = words(rows, offsetof(Block, scale));
    out.scale = low_f16(first);
    const __m512i high_bits = _mm512_srli_epi32(first, 16);
    const __m512i low_bits = words(rows, offsetof(Block, scales_low));
    unroll<8>([&](auto j) {
      const __m512i low =
          _mm512_and_si512(_mm512_srli_epi32(low_bits, 4 * j), _mm512_set1_epi32(0xf));
      const __m512i high =
          _mm512_and_si512(_mm512_srli_epi32(high_bits, 2 * j), _mm512_set1_epi32(3));
      out.of[j] =
          _mm512_sub_epi32(_mm512_or_si512(low, _mm512_slli_epi32(high, 4)), _mm512_set1_epi32(32));
      const __m512i offset =
          _mm512_sub_epi32(_mm512_setzero_si512(), _mm512_slli_epi32(out.of[j], 7));
      out.offsets[j] = _mm512_or_si512(_mm512_slli_epi32(offset, 16),
                                       _mm512_and_si512(offset, _mm512_set1_epi32(0xffff)));
    });
  }
  template <class Source, class Sink>
  [[gnu::always_inline]] static inline void visit(const Source& rows, Sink&& sink) {
    for (int chunk = 0; chunk < 8; ++chunk) {
      __m512i codes[8];
      unpack_nibbles(rows, offsetof(Block, nibbles) + 16 * chunk, codes);
      for (auto& code : codes) code = look_up(code, kIq4Values, 128);
      sink(chunk, codes);
    }
  }
};

}  // namespace
}  // namespace halogen::cpu::avx512
