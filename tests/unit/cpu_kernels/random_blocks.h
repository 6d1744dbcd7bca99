// Seeded random weights and activations for the kernels' tests and benchmarks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "halogen/types.h"

#include "core/check/reference/random_weights.h"
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
  for (const InstructionSet set :
       {InstructionSet::kPortable, InstructionSet::kAvx2, InstructionSet::kAvx512})
    if (available(set)) sets.push_back(set);
  return sets;
}

using reference::random_floats;
using reference::random_weights;

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
