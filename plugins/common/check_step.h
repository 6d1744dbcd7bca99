// Whether a step keeps to what a program was made for, so that no kernel reads or writes outside.
#pragma once

#include "halogen/backend.h"

namespace halogen::backends {

struct PoolSize {
  uint32_t blocks, block_tokens;
};

// [any] HALOGEN_E_INVALID with what is wrong. Allocates nothing for a sound step.
halogen_status check_step(const halogen_graph& graph, const halogen_limits& limits,
                          const PoolSize& pool, const halogen_step& step, halogen_error* error);

}  // namespace halogen::backends
