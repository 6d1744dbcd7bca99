// Seeded random weights and vectors for the kernels' tests and benchmarks. Any bytes are valid
// codes and sub-block scales in every format, so blocks are random bytes with sensible F16 (or
// E8M0) scales.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "halogen/types.h"

#include "plugins/cpu/kernels/block_layouts.h"
#include "plugins/cpu/kernels/kernel_set.h"

namespace halogen::cpu::testing {

inline constexpr halogen_type kQuantisedTypes[] = {
    HALOGEN_Q4_0,   HALOGEN_Q4_1,   HALOGEN_Q5_0, HALOGEN_Q5_1, HALOGEN_Q8_0,
    HALOGEN_Q2_K,   HALOGEN_Q3_K,   HALOGEN_Q4_K, HALOGEN_Q5_K, HALOGEN_Q6_K,
    HALOGEN_IQ4_NL, HALOGEN_IQ4_XS, HALOGEN_MXFP4};
inline constexpr halogen_type kPlainTypes[] = {HALOGEN_F32, HALOGEN_F16, HALOGEN_BF16};

inline std::vector<halogen_type> all_types() {
  std::vector<halogen_type> types(std::begin(kPlainTypes), std::end(kPlainTypes));
  types.insert(types.end(), std::begin(kQuantisedTypes), std::end(kQuantisedTypes));
  return types;
}

inline std::vector<InstructionSet> available_sets() {
  std::vector<InstructionSet> sets;
  for (const InstructionSet set : {InstructionSet::kPortable, InstructionSet::kAvx2})
    if (available(set)) sets.push_back(set);
  return sets;
}

inline std::vector<float> random_floats(size_t n, std::mt19937& random, float deviation = 1.0f) {
  std::normal_distribution<float> normal(0.0f, deviation);
  std::vector<float> values(n);
  for (float& value : values) value = normal(random);
  return values;
}

// F16 bits of a magnitude between 2^-8 and 2^-4, with a random sign where `any_sign`.
inline uint16_t random_scale(std::mt19937& random, bool any_sign) {
  const auto bits = static_cast<uint16_t>(0x1c00u + (random() & 0x0fffu));
  return static_cast<uint16_t>(bits | (any_sign ? random() & 0x8000u : 0u));
}

template <class Block>
inline void set_scales(uint8_t* at, std::mt19937& random) {
  Block block;
  std::memcpy(&block, at, sizeof block);
  block.scale = random_scale(random, true);
  if constexpr (requires { block.minimum; }) block.minimum = random_scale(random, true);
  std::memcpy(at, &block, sizeof block);
}

// `n` elements (whole blocks) of a type.
inline std::vector<uint8_t> random_weights(halogen_type type, size_t n, std::mt19937& random) {
  std::vector<uint8_t> bytes(halogen_row_bytes(type, n));
  const KernelSet& set = kernels(InstructionSet::kPortable);
  if (type == HALOGEN_F32 || type == HALOGEN_F16 || type == HALOGEN_BF16) {
    const std::vector<float> values = random_floats(n, random, 0.05f);
    if (type == HALOGEN_F32) std::memcpy(bytes.data(), values.data(), bytes.size());
    if (type == HALOGEN_F16)
      set.f32_to_f16(values.data(), n, reinterpret_cast<uint16_t*>(bytes.data()));
    if (type == HALOGEN_BF16)
      set.f32_to_bf16(values.data(), n, reinterpret_cast<uint16_t*>(bytes.data()));
    return bytes;
  }
  for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    const uint32_t word = static_cast<uint32_t>(random());
    std::memcpy(&bytes[i], &word, 4);
  }
  const size_t block_bytes = halogen_type_find(type)->block_bytes;
  for (size_t i = 0; i < bytes.size(); i += block_bytes) {
    uint8_t* at = &bytes[i];
    switch (type) {
      case HALOGEN_Q4_0:
        set_scales<BlockQ4_0>(at, random);
        break;
      case HALOGEN_Q4_1:
        set_scales<BlockQ4_1>(at, random);
        break;
      case HALOGEN_Q5_0:
        set_scales<BlockQ5_0>(at, random);
        break;
      case HALOGEN_Q5_1:
        set_scales<BlockQ5_1>(at, random);
        break;
      case HALOGEN_Q8_0:
        set_scales<BlockQ8_0>(at, random);
        break;
      case HALOGEN_IQ4_NL:
        set_scales<BlockIQ4_NL>(at, random);
        break;
      case HALOGEN_Q2_K:
        set_scales<BlockQ2_K>(at, random);
        break;
      case HALOGEN_Q3_K:
        set_scales<BlockQ3_K>(at, random);
        break;
      case HALOGEN_Q4_K:
        set_scales<BlockQ4_K>(at, random);
        break;
      case HALOGEN_Q5_K:
        set_scales<BlockQ5_K>(at, random);
        break;
      case HALOGEN_Q6_K:
        set_scales<BlockQ6_K>(at, random);
        break;
      case HALOGEN_IQ4_XS:
        set_scales<BlockIQ4_XS>(at, random);
        break;
      case HALOGEN_MXFP4:
        at[0] = static_cast<uint8_t>(118 + random() % 6);
        break;
      default:
        break;
    }
  }
  return bytes;
}

// Activations of [tokens][k], as the linear kernel of `type` takes them (or F32 for the exact one).
struct Activations {
  std::vector<uint8_t> bytes;
  size_t stride_bytes;
};

inline Activations make_activations(const KernelSet& set, ActivationFormat format,
                                    const std::vector<float>& x, size_t k) {
  const size_t tokens = x.size() / k;
  Activations result;
  result.stride_bytes = (activation_row_bytes(format, k) + 63) / 64 * 64;
  result.bytes.resize(result.stride_bytes * tokens);
  for (size_t t = 0; t < tokens; ++t) {
    uint8_t* to = &result.bytes[t * result.stride_bytes];
    switch (format) {
      case ActivationFormat::kF32:
        std::memcpy(to, &x[t * k], k * sizeof(float));
        break;
      case ActivationFormat::kQ8Block:
        set.quantise_q8_blocks(&x[t * k], k, reinterpret_cast<Q8Block*>(to));
        break;
      case ActivationFormat::kQ8SuperBlock:
        set.quantise_q8_superblocks(&x[t * k], k, reinterpret_cast<Q8SuperBlock*>(to));
        break;
    }
  }
  return result;
}

}  // namespace halogen::cpu::testing
