// How the quantised formats become operands of the AVX-512 integer products.
//
// vpdpbusd multiplies unsigned by signed bytes and adds four neighbours to a 32-bit lane. The lanes
// are rows; the unsigned operand is codes[i]: elements 4 i to 4 i + 3 of each row. Signed codes are
// made unsigned by adding a power of two, whose part of the sum is taken away again: it is that
// power times the sum of the activations.
//
// A 32-element format has
//   kOffsetBits        codes hold 2^kOffsetBits too much; 0: nothing
//   unpack(rows, out)  fills the PanelBlock
// A superblock format has
//   kSubBlock          elements that share a scale: 16 or 32
//   kOffset            what the sums of the 16 activations are multiplied with: kCodes, the scales
//                      times what the codes hold too much, negative; kMinima: the minima
//   unpack(rows, out)
//
// Implementation header: in an unnamed namespace, see float_formats.h.
#pragma once

#include "plugins/cpu/kernels/avx512_vectors.h"
#include "plugins/cpu/kernels/block_layouts.h"

namespace halogen::cpu::avx512 {
namespace {

// --- 32 elements
// -----------------------------------------------------------------------------------

template <bool HasMinimum>
struct PanelBlock {
  static constexpr bool kHasMinimum = HasMinimum;
  __m512i codes[kBlock / 4];
  __m512 scale;
};
template <>
struct PanelBlock<true> {
  static constexpr bool kHasMinimum = true;
  __m512i codes[kBlock / 4];
  __m512 scale;
  __m512 minimum;
};

template <class Block>
inline __attribute__((always_inline)) void unpack_nibbles(Rows<Block> rows, size_t offset,
                                                          __m512i* codes) {
  __m512i packed[4];
  transpose(rows, offset, packed);
  for (int i = 0; i < 4; ++i) {
    codes[i] = low_nibbles(packed[i]);
    codes[4 + i] = high_nibbles(packed[i]);
  }
}

struct Q4_0 {
  using Block = BlockQ4_0;
  static constexpr int kOffsetBits = 3;
  static void unpack(Rows<Block> rows, PanelBlock<false>& out) {
    unpack_nibbles(rows, offsetof(Block, nibbles), out.codes);
    out.scale = f16(rows, offsetof(Block, scale));
  }
};

}  // namespace
}  // namespace halogen::cpu::avx512
