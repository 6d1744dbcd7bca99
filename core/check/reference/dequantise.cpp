#include "core/check/reference/dequantise.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace halogen::reference {
namespace {

// A block on its way to real numbers.
struct Block {
  const uint8_t* bytes;
  double* values;
  double* magnitudes;

  uint16_t u16(size_t at) const { return static_cast<uint16_t>(bytes[at] | bytes[at + 1] << 8); }
  double half(size_t at) const { return half_value(u16(at)); }
  void set(size_t element, double product) const {
    values[element] = product;  // which may be a negative zero
    magnitudes[element] = std::fabs(product);
  }
  void set(size_t element, double product, double minimum) const {
    values[element] = product + minimum;
    magnitudes[element] = std::fabs(product) + std::fabs(minimum);
  }
};

// E2M1: sign, two bits of exponent, one of mantissa.
double e2m1(unsigned bits) {
  static constexpr double kMagnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return (bits & 8) != 0 ? -kMagnitudes[bits & 7] : kMagnitudes[bits & 7];
}

// Unsigned E4M3 with bias 7; 0x7f is not a number and counts as 0.
double unsigned_e4m3(uint8_t bits) {
  if ((bits & 0x7f) == 0x7f) return 0;
  const int exponent = bits >> 3 & 15, mantissa = bits & 7;
  return exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
}

// The levels of IQ4_NL and IQ4_XS.
constexpr int kIq4Levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                1,    13,   25,  38,  53,  69,  89,  113};

// Element i of 32 whose low half stands in the low nibbles of 16 bytes and whose high half in the
// high ones.
int nibble_of_32(const uint8_t* nibbles, int i) {
  return i < 16 ? nibbles[i] & 15 : nibbles[i - 16] >> 4;
}

int bit(const uint8_t* bytes, int i) {
  return bytes[i / 8] >> (i % 8) & 1;
}

void q4_0(const Block& b) {
  for (int i = 0; i < 32; i++) b.set(i, b.half(0) * (nibble_of_32(b.bytes + 2, i) - 8));
}
void q4_1(const Block& b) {
  for (int i = 0; i < 32; i++) b.set(i, b.half(0) * nibble_of_32(b.bytes + 4, i), b.half(2));
}
void q5_0(const Block& b) {
  for (int i = 0; i < 32; i++) {
    const int q = nibble_of_32(b.bytes + 6, i) + 16 * bit(b.bytes + 2, i);
    b.set(i, b.half(0) * (q - 16));
  }
}
void q5_1(const Block& b) {
  for (int i = 0; i < 32; i++) {
    const int q = nibble_of_32(b.bytes + 8, i) + 16 * bit(b.bytes + 4, i);
    b.set(i, b.half(0) * q, b.half(2));
  }
}
void q8_0(const Block& b) {
  for (int i = 0; i < 32; i++) b.set(i, b.half(0) * static_cast<int8_t>(b.bytes[2 + i]));
}
void iq4_nl(const Block& b) {
  for (int i = 0; i < 32; i++) b.set(i, b.half(0) * kIq4Levels[nibble_of_32(b.bytes + 2, i)]);
}
void mxfp4(const Block& b) {
  const double scale = std::ldexp(1.0, b.bytes[0] - 127);
  for (int i = 0; i < 32; i++)
    b.set(i, scale * e2m1(static_cast<unsigned>(nibble_of_32(b.bytes + 1, i))));
}
void nvfp4(const Block& b) {
  for (int i = 0; i < 64; i++) {
    const uint8_t byte = b.bytes[4 + i / 16 * 8 + i % 8];
    const unsigned q = i % 16 < 8 ? byte & 15U : byte >> 4;
    b.set(i, unsigned_e4m3(b.bytes[i / 16]) * e2m1(q));
  }
}
void q1_0(const Block& b) {
  for (int i = 0; i < 128; i++) b.set(i, b.half(0) * (2 * bit(b.bytes + 2, i) - 1));
}
void q2_0(const Block& b) {
  for (int i = 0; i < 64; i++)
    b.set(i, b.half(0) * ((b.bytes[2 + i / 4] >> (2 * (i % 4)) & 3) - 1));
}

// Two bits of each of 256 elements: 128 of them in 32 bytes, element 32 c + i in bits 2 c of byte
// i.
int pair_of_256(const uint8_t* pairs, int i) {
  return pairs[i / 128 * 32 + i % 32] >> (2 * (i % 128 / 32)) & 3;
}
// Four bits: 64 elements in 32 bytes, first the low nibbles, then the high ones.
int nibble_of_64(const uint8_t* nibbles, int i) {
  const uint8_t byte = nibbles[i / 64 * 32 + i % 32];
  return i % 64 < 32 ? byte & 15 : byte >> 4;
}
// The bit of element 32 j + i is bit j of byte i.
int plane_bit(const uint8_t* bits, int i) {
  return bits[i % 32] >> (i / 32) & 1;
}
// Scale j and minimum j of Q4_K and Q5_K: six bits each, in 12 bytes.
int scale_of_8(const uint8_t* packed, int j) {
  return j < 4 ? packed[j] & 63 : (packed[j + 4] & 15) | packed[j - 4] >> 6 << 4;
}
int minimum_of_8(const uint8_t* packed, int j) {
  return j < 4 ? packed[j + 4] & 63 : packed[j + 4] >> 4 | packed[j] >> 6 << 4;
}

void q2_k(const Block& b) {
  for (int i = 0; i < 256; i++) {
    const int scale = b.bytes[i / 16] & 15, minimum = b.bytes[i / 16] >> 4;
    b.set(i, b.half(80) * scale * pair_of_256(b.bytes + 16, i), -b.half(82) * minimum);
  }
}
void q3_k(const Block& b) {
  const uint8_t* scales = b.bytes + 96;
  for (int i = 0; i < 256; i++) {
    const int j = i / 16;
    const int low = j < 8 ? scales[j] & 15 : scales[j - 8] >> 4;
    const int scale = (low | (scales[8 + j % 4] >> (2 * (j / 4)) & 3) << 4) - 32;
    const int q = pair_of_256(b.bytes + 32, i) + 4 * plane_bit(b.bytes, i) - 4;
    b.set(i, b.half(108) * scale * q);
  }
}
void q4_k(const Block& b) {
  for (int i = 0; i < 256; i++) {
    const int j = i / 32, q = nibble_of_64(b.bytes + 16, i);
    b.set(i, b.half(0) * scale_of_8(b.bytes + 4, j) * q, -b.half(2) * minimum_of_8(b.bytes + 4, j));
  }
}
void q5_k(const Block& b) {
  for (int i = 0; i < 256; i++) {
    const int j = i / 32, q = nibble_of_64(b.bytes + 48, i) + 16 * plane_bit(b.bytes + 16, i);
    b.set(i, b.half(0) * scale_of_8(b.bytes + 4, j) * q, -b.half(2) * minimum_of_8(b.bytes + 4, j));
  }
}
void q6_k(const Block& b) {
  for (int i = 0; i < 256; i++) {
    // 128 elements in 64 bytes: the low nibbles hold the first 64, the high ones the others.
    const uint8_t byte = b.bytes[i / 128 * 64 + i % 64];
    const int low = i % 128 < 64 ? byte & 15 : byte >> 4;
    const int q = (low | pair_of_256(b.bytes + 128, i) << 4) - 32;
    b.set(i, b.half(208) * static_cast<int8_t>(b.bytes[192 + i / 16]) * q);
  }
}
void iq4_xs(const Block& b) {
  for (int i = 0; i < 256; i++) {
    const int j = i / 32;
    const int low = b.bytes[4 + j / 2] >> (4 * (j % 2)) & 15;
    const int scale = (low | (b.u16(2) >> (2 * j) & 3) << 4) - 32;
    const int level = kIq4Levels[nibble_of_32(b.bytes + 8 + 16 * j, i % 32)];
    b.set(i, b.half(0) * scale * level);
  }
}

// Digit `place` of a byte that holds digits of base 3 as a fraction of 256.
int ternary_digit(uint8_t byte, int place) {
  static constexpr int kPowers[] = {1, 3, 9, 27, 81};
  return (byte * kPowers[place] % 256) * 3 / 256;
}
// Five digits a byte: 32 bytes for 160 elements, 16 for 80; then four digits in each of four bytes.
void tq1_0(const Block& b) {
  for (int i = 0; i < 256; i++) {
    int digit = 0;
    if (i < 160) {
      digit = ternary_digit(b.bytes[i % 32], i / 32);
    } else if (i < 240) {
      digit = ternary_digit(b.bytes[32 + (i - 160) % 16], (i - 160) / 16);
    } else {
      digit = ternary_digit(b.bytes[48 + (i - 240) % 4], (i - 240) / 4);
    }
    b.set(i, b.half(52) * (digit - 1));
  }
}
void tq2_0(const Block& b) {
  for (int i = 0; i < 256; i++) b.set(i, b.half(64) * (pair_of_256(b.bytes, i) - 1));
}

void f32(const Block& b) {
  float value = 0;
  std::memcpy(&value, b.bytes, sizeof value);
  b.set(0, value);
}
void f64(const Block& b) {
  double value = 0;
  std::memcpy(&value, b.bytes, sizeof value);
  b.set(0, value);
}
void f16(const Block& b) {
  b.set(0, b.half(0));
}
void bf16(const Block& b) {
  b.set(0, bfloat16_value(b.u16(0)));
}

struct Format {
  halogen_type type;
  void (*unpack)(const Block& block);
};
constexpr Format kFormats[] = {
    {HALOGEN_F32, f32},       {HALOGEN_F16, f16},     {HALOGEN_BF16, bf16},
    {HALOGEN_F64, f64},       {HALOGEN_Q4_0, q4_0},   {HALOGEN_Q4_1, q4_1},
    {HALOGEN_Q5_0, q5_0},     {HALOGEN_Q5_1, q5_1},   {HALOGEN_Q8_0, q8_0},
    {HALOGEN_Q2_K, q2_k},     {HALOGEN_Q3_K, q3_k},   {HALOGEN_Q4_K, q4_k},
    {HALOGEN_Q5_K, q5_k},     {HALOGEN_Q6_K, q6_k},   {HALOGEN_IQ4_NL, iq4_nl},
    {HALOGEN_IQ4_XS, iq4_xs}, {HALOGEN_TQ1_0, tq1_0}, {HALOGEN_TQ2_0, tq2_0},
    {HALOGEN_MXFP4, mxfp4},   {HALOGEN_NVFP4, nvfp4}, {HALOGEN_Q1_0, q1_0},
    {HALOGEN_Q2_0, q2_0}};

const Format* find_format(halogen_type type) {
  const auto* found = std::find_if(std::begin(kFormats), std::end(kFormats),
                                   [type](const Format& format) { return format.type == type; });
  return found == std::end(kFormats) ? nullptr : found;
}

}  // namespace

const std::vector<halogen_type>& known_types() {
  static const std::vector<halogen_type> types = [] {
    std::vector<halogen_type> all;
    for (const Format& format : kFormats) all.push_back(format.type);
    return all;
  }();
  return types;
}

bool is_known(halogen_type type) {
  return find_format(type) != nullptr;
}

bool dequantise(halogen_type type, const void* row, size_t n, double* values, double* magnitudes) {
  const Format* format = find_format(type);
  if (!format) return false;
  const halogen_type_traits& traits = *halogen_type_find(type);
  std::vector<double> unwanted(magnitudes ? 0 : traits.block_elements);
  const auto* bytes = static_cast<const uint8_t*>(row);
  for (size_t first = 0; first < n; first += traits.block_elements, bytes += traits.block_bytes) {
    format->unpack({bytes, values + first, magnitudes ? magnitudes + first : unwanted.data()});
  }
  return true;
}

double half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  if (exponent == 31) {
    magnitude = mantissa == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

double bfloat16_value(uint16_t bits) {
  const uint32_t word = static_cast<uint32_t>(bits) << 16;
  float value = 0;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

uint16_t nearest_half(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return 0x7e00;
  if (magnitude >= 65520) return sign | 0x7c00;
  // The step between halves near the value; nearbyint rounds ties to even.
  const int exponent = magnitude < 0x1p-14 ? -14 : std::ilogb(magnitude);
  const auto steps = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  return static_cast<uint16_t>(sign |
                               (magnitude < 0x1p-14 ? steps : (exponent + 14) * 1024 + steps));
}

}  // namespace halogen::reference
