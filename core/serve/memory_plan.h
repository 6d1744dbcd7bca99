// How much memory serving gets: the KV pool's size from the profile, the machine and the model.
#pragma once

#include <cstdint>

#include "core/base/result.h"
#include "core/config/units.h"
#include "core/model/weight_store.h"

namespace halogen {

struct MemoryInputs {
  ByteSize pool_size;            // as the profile has it; a share counts of the machine's memory
  uint64_t host_pool_bytes = 0;  // of the second tier, as the profile has it
  uint64_t machine_bytes = 0;    // that this process may use in all
  uint64_t weight_bytes = 0;
  uint64_t program_bytes = 0;  // beside the weights
  WeightPlacement placement = WeightPlacement::resident;
  uint64_t block_bytes = 0;  // of one KV block over all layers; 0 for a model without a KV cache
  uint32_t block_tokens = 0;
  uint32_t context = 0;  // positions of one sequence
  uint32_t max_sequences = 0;
};

// [any] The number of KV blocks: what the profile allows, but no more than max_sequences sequences
// of the whole context could fill, nor than what is left beside the weights. HALOGEN_E_NO_MEMORY,
// with the figures, where not even one sequence of the whole context fits.
Result<uint32_t> plan_kv_blocks(const MemoryInputs& inputs);

// [any] The number of blocks in the second KV tier. HALOGEN_E_NO_MEMORY, with the figures, where
// the tier does not fit beside the weights or could not hold one block.
Result<uint32_t> plan_host_blocks(const MemoryInputs& inputs);

// [worker] Memory this process may use: the machine's, or its control group's limit where that is
// lower.
uint64_t usable_memory_bytes();

}  // namespace halogen
