// What a recording of a step is good for: any step that has no more of anything, and is of its
// kind.
#pragma once

#include <compare>
#include <cstdint>

#include "plugins/common/graph_view.h"

namespace halogen::vulkan {

using backends::Domain;

struct StepShape {
  uint32_t tokens = 0, rows = 0;
  uint32_t tiles = 0;   // of query tokens, for prefill; 0: attention takes token by token
  uint32_t splits = 0;  // of the longest context
  bool hidden = false;  // the hidden state is wanted too

  uint32_t count(Domain domain) const { return domain == Domain::tokens ? tokens : rows; }
  auto operator<=>(const StepShape&) const = default;
};

}  // namespace halogen::vulkan
