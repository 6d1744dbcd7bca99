// Whether a step would compute the same tokens twice.
#pragma once

#include <cstdint>
#include <span>

#include "core/engine/sequence.h"

namespace halogen {

// What a plan gives a sequence.
struct PlannedWork {
  Sequence* sequence;
  uint32_t computed;  // tokens of it that are there before the step
  uint32_t tokens;    // to compute
};

// Whether `later`, which is in its prompt, is better off without its turn: one of `earlier`
// computes at least half of what it would compute, from where it stands, so that it finds that in
// the cache after the step. Takes time with the number of the earlier ones and the logarithm of the
// prompt.
bool is_computed_by_another(const PlannedWork& later, std::span<const PlannedWork> earlier,
                            uint32_t block_tokens);

}  // namespace halogen
