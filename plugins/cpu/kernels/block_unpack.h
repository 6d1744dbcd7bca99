// The quantised formats in plain C++: each one says how a block turns into small signed integers
// and their scales. Dequantisation and the portable linear kernels are written on top of this once.
//
// Implementation header: in an unnamed namespace, see float_formats.h.
#pragma once

#include <cstdint>
#include <cstring>

#include "plugins/cpu/kernels/block_layouts.h"
#include "plugins/cpu/kernels/float_formats.h"

namespace halogen::cpu {
namespace {

// value[i] = q[i] * scale + minimum (the latter only where the format has one)
struct UnpackedBlock {
  int8_t q[kBlock];
  float scale;
  float minimum;
};

// value[i] = (scale * scales[i / 16]) * q[i] - minimum * minima[i / 16]
struct UnpackedSuperBlock {
  int8_t q[kSuperBlock];
  int16_t scales[16];
  int16_t minima[16];
  float scale;
  float minimum;
};

inline void unpack_nibbles(const uint8_t* nibbles, int offset, int8_t* q) {
  for (int i = 0; i < 16; ++i) {
    q[i] = static_cast<int8_t>((nibbles[i] & 0xf) - offset);
    q[i + 16] = static_cast<int8_t>((nibbles[i] >> 4) - offset);
  }
}

inline void unpack_looked_up(const uint8_t* nibbles, const int8_t (&values)[16], int8_t* q) {
  for (int i = 0; i < 16; ++i) {
    q[i] = values[nibbles[i] & 0xf];
    q[i + 16] = values[nibbles[i] >> 4];
  }
}

inline void unpack_five_bits(const uint8_t* nibbles, const uint8_t (&fifth_bits)[4], int offset,
                             int8_t* q) {
  uint32_t bits;
  std::memcpy(&bits, fifth_bits, sizeof bits);
  for (int i = 0; i < 16; ++i) {
    const int low = (nibbles[i] & 0xf) | static_cast<int>(bits >> i & 1) << 4;
    const int high = (nibbles[i] >> 4) | static_cast<int>(bits >> (i + 16) & 1) << 4;
    q[i] = static_cast<int8_t>(low - offset);
    q[i + 16] = static_cast<int8_t>(high - offset);
  }
}

struct UnpackQ4_0 {
  using Block = BlockQ4_0;
  static constexpr bool kHasMinimum = false;
  static void unpack(const Block& block, UnpackedBlock& out) {
    unpack_nibbles(block.nibbles, 8, out.q);
    out.scale = f16_to_f32(block.scale);
  }
};

struct UnpackQ4_1 {
  using Block = BlockQ4_1;
  static constexpr bool kHasMinimum = true;
  static void unpack(const Block& block, UnpackedBlock& out) {
    unpack_nibbles(block.nibbles, 0, out.q);
    out.scale = f16_to_f32(block.scale);
    out.minimum = f16_to_f32(block.minimum);
  }
};

struct UnpackQ5_0 {
  using Block = BlockQ5_0;
  static constexpr bool kHasMinimum = false;
  static void unpack(const Block& block, UnpackedBlock& out) {
    unpack_five_bits(block.nibbles, block.fifth_bits, 16, out.q);
    out.scale = f16_to_f32(block.scale);
  }
};

struct UnpackQ5_1 {
  using Block = BlockQ5_1;
  static constexpr bool kHasMinimum = true;
  static void unpack(const Block& block, UnpackedBlock& out) {
    unpack_five_bits(block.nibbles, block.fifth_bits, 0, out.q);
    out.scale = f16_to_f32(block.scale);
    out.minimum = f16_to_f32(block.minimum);
  }
};

struct UnpackQ8_0 {
  using Block = BlockQ8_0;
  static constexpr bool kHasMinimum = false;
  static void unpack(const Block& block, UnpackedBlock& out) {
    std::memcpy(out.q, block.q, sizeof out.q);
    out.scale = f16_to_f32(block.scale);
  }
};

struct UnpackIQ4_NL {
  using Block = BlockIQ4_NL;
  static constexpr bool kHasMinimum = false;
  static void unpack(const Block& block, UnpackedBlock& out) {
    unpack_looked_up(block.nibbles, kIq4Values, out.q);
    out.scale = f16_to_f32(block.scale);
  }
};

struct UnpackMXFP4 {
  using Block = BlockMXFP4;
  static constexpr bool kHasMinimum = false;
  static void unpack(const Block& block, UnpackedBlock& out) {
    unpack_looked_up(block.nibbles, kMxfp4Values, out.q);
    out.scale = half_of_e8m0(block.exponent);
  }
};

// Two bits per element, 128 elements in 32 bytes.
inline void unpack_pairs(const uint8_t (&pairs)[64], int8_t* q) {
  for (int chunk = 0; chunk < 8; ++chunk)
    for (int i = 0; i < 32; ++i)
      q[32 * chunk + i] = static_cast<int8_t>(pairs[32 * (chunk / 4) + i] >> (2 * (chunk % 4)) & 3);
}

// The 8 scales and 8 minima of Q4_K and Q5_K: six bits each in 12 bytes. The first four of each
// stand in the lower six bits of bytes 0-3 and 4-7; of the others the lower nibbles stand in bytes
// 8-11 and the upper two bits above the first ones.
inline void unpack_six_bit_pairs(const uint8_t (&packed)[12], uint8_t (&scales)[8],
                                 uint8_t (&minima)[8]) {
  for (int j = 0; j < 4; ++j) {
    scales[j] = packed[j] & 63;
    minima[j] = packed[j + 4] & 63;
    scales[j + 4] = static_cast<uint8_t>((packed[j + 8] & 0xf) | packed[j] >> 6 << 4);
    minima[j + 4] = static_cast<uint8_t>(packed[j + 8] >> 4 | packed[j + 4] >> 6 << 4);
  }
}

inline void unpack_four_bit_chunks(const uint8_t (&nibbles)[128], int8_t* q) {
  for (int chunk = 0; chunk < 4; ++chunk)
    for (int i = 0; i < 32; ++i) {
      q[64 * chunk + i] = static_cast<int8_t>(nibbles[32 * chunk + i] & 0xf);
      q[64 * chunk + 32 + i] = static_cast<int8_t>(nibbles[32 * chunk + i] >> 4);
    }
}

template <class BlockType>
inline void unpack_scales_of_32(const BlockType& block, UnpackedSuperBlock& out) {
  uint8_t scales[8];
  uint8_t minima[8];
  unpack_six_bit_pairs(block.scales, scales, minima);
  for (int j = 0; j < 16; ++j) {
    out.scales[j] = scales[j / 2];
    out.minima[j] = minima[j / 2];
  }
  out.scale = f16_to_f32(block.scale);
  out.minimum = f16_to_f32(block.minimum);
}

struct UnpackQ2_K {
  using Block = BlockQ2_K;
  static constexpr bool kHasMinimum = true;
  static void unpack(const Block& block, UnpackedSuperBlock& out) {
    unpack_pairs(block.pairs, out.q);
    for (int j = 0; j < 16; ++j) {
      out.scales[j] = block.scales[j] & 0xf;
      out.minima[j] = block.scales[j] >> 4;
    }
    out.scale = f16_to_f32(block.scale);
    out.minimum = f16_to_f32(block.minimum);
  }
};

struct UnpackQ3_K {
  using Block = BlockQ3_K;
  static constexpr bool kHasMinimum = false;
  static void unpack(const Block& block, UnpackedSuperBlock& out) {
    unpack_pairs(block.pairs, out.q);
    for (int chunk = 0; chunk < 8; ++chunk)
      for (int i = 0; i < 32; ++i) {
        int8_t& q = out.q[32 * chunk + i];
        q = static_cast<int8_t>(q + (block.third_bits[i] >> chunk & 1) * 4 - 4);
      }
    for (int j = 0; j < 16; ++j) {
      const int low = j < 8 ? block.scales[j] & 0xf : block.scales[j - 8] >> 4;
      const int high = block.scales[8 + j % 4] >> (2 * (j / 4)) & 3;
      out.scales[j] = static_cast<int16_t>((low | high << 4) - 32);
    }
    out.scale = f16_to_f32(block.scale);
  }
};

struct UnpackQ4_K {
  using Block = BlockQ4_K;
  static constexpr bool kHasMinimum = true;
  static void unpack(const Block& block, UnpackedSuperBlock& out) {
    unpack_four_bit_chunks(block.nibbles, out.q);
    unpack_scales_of_32(block, out);
  }
};

struct UnpackQ5_K {
  using Block = BlockQ5_K;
  static constexpr bool kHasMinimum = true;
  static void unpack(const Block& block, UnpackedSuperBlock& out) {
    unpack_four_bit_chunks(block.nibbles, out.q);
    for (int chunk = 0; chunk < 8; ++chunk)
      for (int i = 0; i < 32; ++i) {
        int8_t& q = out.q[32 * chunk + i];
        q = static_cast<int8_t>(q | (block.fifth_bits[i] >> chunk & 1) << 4);
      }
    unpack_scales_of_32(block, out);
  }
};

struct UnpackQ6_K {
  using Block = BlockQ6_K;
  static constexpr bool kHasMinimum = false;
  static void unpack(const Block& block, UnpackedSuperBlock& out) {
    unpack_pairs(block.pairs, out.q);
    for (int half = 0; half < 2; ++half)
      for (int i = 0; i < 64; ++i) {
        const int nibbles = block.nibbles[64 * half + i];
        int8_t& first = out.q[128 * half + i];
        int8_t& second = out.q[128 * half + 64 + i];
        first = static_cast<int8_t>((first << 4 | (nibbles & 0xf)) - 32);
        second = static_cast<int8_t>((second << 4 | nibbles >> 4) - 32);
      }
    for (int j = 0; j < 16; ++j) out.scales[j] = static_cast<int16_t>(block.scales[j]);
    out.scale = f16_to_f32(block.scale);
  }
};

struct UnpackIQ4_XS {
  using Block = BlockIQ4_XS;
  static constexpr bool kHasMinimum = false;
  static void unpack(const Block& block, UnpackedSuperBlock& out) {
    for (int chunk = 0; chunk < 8; ++chunk) {
      unpack_looked_up(block.nibbles + 16 * chunk, kIq4Values, out.q + 32 * chunk);
      const int low = block.scales_low[chunk / 2] >> (4 * (chunk % 2)) & 0xf;
      const int high = block.scales_high >> (2 * chunk) & 3;
      const auto scale = static_cast<int16_t>((low | high << 4) - 32);
      out.scales[2 * chunk] = scale;
      out.scales[2 * chunk + 1] = scale;
    }
    out.scale = f16_to_f32(block.scale);
  }
};

// The order of the operations is ggml's, so that the F32 bits are the same. Sub-blocks are walked
// with loops of constant length: GCC 12 at -O3 -mavx2 lost all stores of loops from 16 j to 16 (j +
// 1) here (right at -O2 or without loop vectorisation, and no report from UBSan).
template <class Format>
inline void dequantise_block(const typename Format::Block& block, float* out) {
  if constexpr (requires(UnpackedBlock& u) { Format::unpack(block, u); }) {
    UnpackedBlock unpacked;
    Format::unpack(block, unpacked);
    for (int i = 0; i < kBlock; ++i) {
      out[i] = static_cast<float>(unpacked.q[i]) * unpacked.scale;
      if constexpr (Format::kHasMinimum) out[i] += unpacked.minimum;
    }
  } else {
    UnpackedSuperBlock unpacked;
    Format::unpack(block, unpacked);
    for (int j = 0; j < 16; ++j) {
      const int8_t* q = unpacked.q + 16 * j;
      float* values = out + 16 * j;
      const float scale = unpacked.scale * static_cast<float>(unpacked.scales[j]);
      for (int i = 0; i < 16; ++i) values[i] = scale * static_cast<float>(q[i]);
      if constexpr (Format::kHasMinimum) {
        const float minimum = unpacked.minimum * static_cast<float>(unpacked.minima[j]);
        for (int i = 0; i < 16; ++i) values[i] -= minimum;
      }
    }
  }
}

// Rows of a quantised format for the loops of float_panels.h: whole blocks from element `first` on.
template <class Format>
struct DequantisedSource {
  static void load(const uint8_t* row, size_t first, size_t n, float* out) {
    using Block = typename Format::Block;
    constexpr size_t kElements = sizeof(Block) < 40 ? kBlock : kSuperBlock;
    const auto* blocks = reinterpret_cast<const Block*>(row) + first / kElements;
    for (size_t b = 0; b < n / kElements; ++b)
      dequantise_block<Format>(blocks[b], out + b * kElements);
  }
};

// Calls visit.template operator()<Format>() for the quantised type; false when there is no such
// format.
template <class Visitor>
inline bool visit_quantised(halogen_type type, Visitor&& visit) {
  switch (type) {
    case HALOGEN_Q4_0:
      return visit.template operator()<UnpackQ4_0>(), true;
    case HALOGEN_Q4_1:
      return visit.template operator()<UnpackQ4_1>(), true;
    case HALOGEN_Q5_0:
      return visit.template operator()<UnpackQ5_0>(), true;
    case HALOGEN_Q5_1:
      return visit.template operator()<UnpackQ5_1>(), true;
    case HALOGEN_Q8_0:
      return visit.template operator()<UnpackQ8_0>(), true;
    case HALOGEN_IQ4_NL:
      return visit.template operator()<UnpackIQ4_NL>(), true;
    case HALOGEN_MXFP4:
      return visit.template operator()<UnpackMXFP4>(), true;
    case HALOGEN_Q2_K:
      return visit.template operator()<UnpackQ2_K>(), true;
    case HALOGEN_Q3_K:
      return visit.template operator()<UnpackQ3_K>(), true;
    case HALOGEN_Q4_K:
      return visit.template operator()<UnpackQ4_K>(), true;
    case HALOGEN_Q5_K:
      return visit.template operator()<UnpackQ5_K>(), true;
    case HALOGEN_Q6_K:
      return visit.template operator()<UnpackQ6_K>(), true;
    case HALOGEN_IQ4_XS:
      return visit.template operator()<UnpackIQ4_XS>(), true;
    default:
      return false;
  }
}

}  // namespace
}  // namespace halogen::cpu
