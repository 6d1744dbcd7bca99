// The byte layouts of the quantised GGUF formats, as the ggml documentation describes them.
//
// Formats of 32 elements keep the first 16 elements in the low nibbles and the last 16 in the high
// ones. The K formats are superblocks of 256 elements, cut into sub-blocks of 16 or 32 with a small
// integer scale (and, for Q2_K, Q4_K and Q5_K, a small integer minimum) each; what these integers
// multiply is stored once per superblock. F16 values are kept as their bits.
#pragma once

#include <cstdint>

#include "halogen/types.h"

namespace halogen::cpu {

inline constexpr int kBlock = 32;
inline constexpr int kSuperBlock = 256;

struct BlockQ4_0 {
  uint16_t scale;
  uint8_t nibbles[16];  // value = scale * (q - 8)
};
struct BlockQ4_1 {
  uint16_t scale, minimum;
  uint8_t nibbles[16];  // value = scale * q + minimum
};
struct BlockQ5_0 {
  uint16_t scale;
  uint8_t fifth_bits[4];  // bit i belongs to element i
  uint8_t nibbles[16];    // value = scale * (q - 16)
};
struct BlockQ5_1 {
  uint16_t scale, minimum;
  uint8_t fifth_bits[4];
  uint8_t nibbles[16];  // value = scale * q + minimum
};
struct BlockQ8_0 {
  uint16_t scale;
  int8_t q[32];  // value = scale * q
};
struct BlockIQ4_NL {
  uint16_t scale;
  uint8_t nibbles[16];  // value = scale * kIq4Values[q]
};
struct BlockMXFP4 {
  uint8_t exponent;     // E8M0
  uint8_t nibbles[16];  // value = 2^(exponent - 127) * E2M1[q]
};

struct BlockQ2_K {
  uint8_t scales[16];  // low nibble: scale, high nibble: minimum, of 16 elements
  uint8_t pairs[64];   // 128 elements in 32 bytes: elements 32 c + i in bits 2c, 2c + 1 of byte i
  uint16_t scale, minimum;
};
struct BlockQ3_K {
  uint8_t third_bits[32];  // bit j of byte i belongs to element 32 j + i
  uint8_t pairs[64];       // as in Q2_K
  uint8_t scales[12];  // 16 scales of 6 bits, offset 32: low nibbles in 8 bytes, high pairs in 4
  uint16_t scale;      // value = scale * (s - 32) * (q - 4)
};
struct BlockQ4_K {
  uint16_t scale, minimum;
  uint8_t scales[12];    // 8 scales and 8 minima of 6 bits
  uint8_t nibbles[128];  // 64 elements in 32 bytes: first the low nibbles, then the high ones
};
struct BlockQ5_K {
  uint16_t scale, minimum;
  uint8_t scales[12];      // as in Q4_K
  uint8_t fifth_bits[32];  // bit j of byte i belongs to element 32 j + i
  uint8_t nibbles[128];    // as in Q4_K
};
struct BlockQ6_K {
  uint8_t nibbles[128];  // 128 elements in 64 bytes: low nibbles of all 64, then the high ones
  uint8_t pairs[64];     // the upper two bits, arranged as in Q2_K
  int8_t scales[16];     // of 16 elements
  uint16_t scale;        // value = scale * s * (q - 32)
};
struct BlockIQ4_XS {
  uint16_t scale;
  uint16_t scales_high;   // bits 2j, 2j + 1: the upper bits of scale j
  uint8_t scales_low[4];  // nibble j: the lower bits of scale j
  uint8_t nibbles[128];   // 32 elements in 16 bytes; value = scale * (s - 32) * kIq4Values[q]
};

static_assert(sizeof(BlockQ4_0) == 18 && sizeof(BlockQ4_1) == 20 && sizeof(BlockQ5_0) == 22 &&
              sizeof(BlockQ5_1) == 24 && sizeof(BlockQ8_0) == 34 && sizeof(BlockIQ4_NL) == 18 &&
              sizeof(BlockMXFP4) == 17 && sizeof(BlockQ2_K) == 84 && sizeof(BlockQ3_K) == 110 &&
              sizeof(BlockQ4_K) == 144 && sizeof(BlockQ5_K) == 176 && sizeof(BlockQ6_K) == 210 &&
              sizeof(BlockIQ4_XS) == 136);

// The non-uniform levels of IQ4_NL and IQ4_XS.
inline constexpr int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                          1,    13,   25,  38,  53,  69,  89,  113};
// E2M1 (sign, two exponent bits, one mantissa bit), doubled to be integers.
inline constexpr int8_t kMxfp4Values[16] = {0, 1,  2,  3,  4,  6,  8,  12,
                                            0, -1, -2, -3, -4, -6, -8, -12};

}  // namespace halogen::cpu
