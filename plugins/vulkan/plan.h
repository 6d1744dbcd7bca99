// A graph turned into the dispatches of a step, before any memory is taken: pipelines, matrices and
// weights are numbers here, which Bindings turns into addresses.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "halogen/backend.h"

#include "plugins/vulkan/adapter.h"
#include "plugins/vulkan/operation.h"
#include "plugins/vulkan/pipelines.h"

namespace halogen::vulkan {

// A matrix of the step: one row for each token or wanted row.
struct Slot {
  Domain domain = Domain::tokens;
  uint32_t stride = 0;  // from row to row, in floats
  uint64_t offset = 0;  // bytes into the arena
};

// One rotation, shared by the layers that turn alike.
struct Rotation {
  halogen_rope_attributes attributes{};
  halogen_value_id factors = HALOGEN_NO_VALUE;
};

// How the positions of a context are shared out in attention of single tokens.
struct SplitSizes {
  uint32_t positions, most;
};

struct Plan {
  std::vector<std::unique_ptr<Operation>> operations;
  std::vector<PipelineKey> pipelines;
  std::vector<Slot> slots;
  std::vector<Rotation> rotations;
  std::vector<bool> matrices, vectors;  // [weights]: in the file's layout, as F32; maybe both
  uint64_t arena_bytes = 0;
  uint64_t partial_floats = 0;  // of split attention
  uint64_t tile_bytes = 0;      // of choices that are sorted by expert
  std::optional<Columns> logits, hidden;
  SplitSizes splits{};
  uint32_t decode_tokens = 0;  // a step of more is attended to in tiles
  uint32_t tile_tokens = 0;    // query tokens in a tile; 0: there is no attention

  uint64_t rows_of(const Slot& slot, const halogen_limits& limits) const {
    return slot.domain == Domain::tokens ? limits.max_tokens : limits.max_rows;
  }
};

// [any] HALOGEN_E_UNSUPPORTED, with the operator and the types, for a node that the backend has no
// shader for.
halogen_status check_node(const halogen_graph& graph, const halogen_node& node,
                          halogen_error* error);

// [any] All nodes of the graph have passed check_node.
Plan compile_plan(const halogen_program_request& request, const Adapter& adapter);

}  // namespace halogen::vulkan
