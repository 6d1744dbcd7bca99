#include "core/check/reference/random_weights.h"

#include <cstring>
#include <initializer_list>

#include "core/check/reference/dequantise.h"

namespace halogen::reference {
namespace {

// Where a block of the type has halves: its scale and, for some, its minimum.
std::initializer_list<size_t> half_offsets(halogen_type type) {
  static constexpr std::initializer_list<size_t> none = {}, first = {0}, two = {0, 2},
                                                 q2_k = {80, 82}, q3_k = {108}, q6_k = {208},
                                                 tq1_0 = {52}, tq2_0 = {64};
  switch (type) {
    case HALOGEN_Q4_0:
    case HALOGEN_Q5_0:
    case HALOGEN_Q8_0:
    case HALOGEN_IQ4_NL:
    case HALOGEN_IQ4_XS:
    case HALOGEN_Q1_0:
    case HALOGEN_Q2_0:
      return first;
    case HALOGEN_Q4_1:
    case HALOGEN_Q5_1:
    case HALOGEN_Q4_K:
    case HALOGEN_Q5_K:
      return two;
    case HALOGEN_Q2_K:
      return q2_k;
    case HALOGEN_Q3_K:
      return q3_k;
    case HALOGEN_Q6_K:
      return q6_k;
    case HALOGEN_TQ1_0:
      return tq1_0;
    case HALOGEN_TQ2_0:
      return tq2_0;
    default:
      return none;
  }
}

// The bits of a half between 2^-8 and 2^-4, of either sign.
uint16_t random_scale(std::mt19937& random) {
  const auto bits = static_cast<uint16_t>(0x1c00U + (random() & 0x0fffU));
  return static_cast<uint16_t>(bits | (random() & 0x8000U));
}

void set_floats(halogen_type type, uint8_t* block, std::mt19937& random) {
  for (const size_t at : half_offsets(type)) {
    const uint16_t scale = random_scale(random);
    std::memcpy(block + at, &scale, sizeof scale);
  }
  if (type == HALOGEN_MXFP4) block[0] = static_cast<uint8_t>(118 + random() % 6);
  if (type == HALOGEN_NVFP4)  // E4M3 between 2^-6 and 2^-2
    for (int i = 0; i < 4; i++) block[i] = static_cast<uint8_t>(8 + random() % 32);
}

template <typename Element>
std::vector<uint8_t> stored(const std::vector<float>& values, Element (*convert)(float)) {
  std::vector<uint8_t> bytes(values.size() * sizeof(Element));
  for (size_t i = 0; i < values.size(); i++) {
    const Element element = convert(values[i]);
    std::memcpy(&bytes[i * sizeof element], &element, sizeof element);
  }
  return bytes;
}

uint16_t truncated_bfloat16(float value) {
  uint32_t word = 0;
  std::memcpy(&word, &value, sizeof word);
  return static_cast<uint16_t>(word >> 16);
}

}  // namespace

std::vector<float> random_floats(size_t n, std::mt19937& random, float deviation) {
  std::normal_distribution<float> normal(0.0f, deviation);
  std::vector<float> values(n);
  for (float& value : values) value = normal(random);
  return values;
}

std::vector<uint8_t> random_weights(halogen_type type, size_t n, std::mt19937& random,
                                    float deviation) {
  if (halogen_type_find(type)->block_elements == 1) {
    const std::vector<float> values = random_floats(n, random, deviation);
    switch (type) {
      case HALOGEN_F16:
        return stored<uint16_t>(values, [](float value) { return nearest_half(value); });
      case HALOGEN_BF16:
        return stored<uint16_t>(values, truncated_bfloat16);
      case HALOGEN_F64:
        return stored<double>(values, [](float value) { return static_cast<double>(value); });
      default:
        return stored<float>(values, [](float value) { return value; });
    }
  }
  std::vector<uint8_t> bytes(halogen_row_bytes(type, n));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random() >> 24);
  const size_t block_bytes = halogen_type_find(type)->block_bytes;
  for (size_t at = 0; at < bytes.size(); at += block_bytes) set_floats(type, &bytes[at], random);
  return bytes;
}

}  // namespace halogen::reference
