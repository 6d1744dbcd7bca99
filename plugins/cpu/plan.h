// A graph turned into the list of operations that a step runs.
//
// The compiler fuses what saves a pass over memory or a barrier:
//   - views (reshape, split) become columns of their source;
//   - work on single rows (norms, rotations, activations, quantising for the next product,
//     storing K and V) is chained into one operation;
//   - products of the same input (q, k, v; gate and up) become one operation, with bias and
//     residual added by the thread that has just computed the rows.
// Matrices share one arena; two whose lifetimes do not meet share bytes.
#pragma once

#include <memory>
#include <vector>

#include "halogen/backend.h"

#include "plugins/cpu/attend_schedule.h"
#include "plugins/cpu/step_context.h"

namespace halogen::cpu {

class RopeAngles;
class WeightCopies;

// When a program makes its copy of the weights: while steps run already, before the first one, or
// never.
enum class WeightCopy : uint8_t { behind, first, off };

// How a backend computes; from its configuration.
struct Settings {
  const KernelSet* kernels = nullptr;
  bool exact = false;                          // F32 activations for every weight type
  unsigned members = 1;                        // threads that share a step
  const AttentionChoice* attention = nullptr;  // outlives the programs
  WeightCopy weight_copy = WeightCopy::behind;
};

struct Plan {
  Plan();
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;
  ~Plan();

  std::vector<std::unique_ptr<Operation>> operations;
  std::vector<Slot> slots;
  std::vector<std::unique_ptr<RopeAngles>> angles;
  std::vector<std::vector<float>> vectors;  // small weights that were not stored as F32
  // All memory of a program on `members` threads, beside the weights and the KV pool.
  uint64_t working_bytes(unsigned members) const {
    return arena_bytes + (members * scratch_floats + partial_floats) * sizeof(float);
  }

  uint64_t arena_bytes = 0;
  std::vector<std::unique_ptr<AttendSchedule>> schedules;  // one for each shape of attention
  uint64_t scratch_floats = 0;                             // each thread's
  uint64_t partial_floats = 0;                             // of split attention
};

// [any] HALOGEN_E_UNSUPPORTED, with the operator and the types, for a node that the backend has no
// kernel for.
halogen_status check_node(const halogen_graph& graph, const halogen_node& node,
                          halogen_error* error);

// [worker] `weights` may be null to find out only what memory the plan needs. `copies` outlives the
// plan.
halogen_status compile_plan(const halogen_graph& graph, const halogen_weight_data* weights,
                            const WeightCopies& copies, const halogen_limits& limits,
                            const Settings& settings, Plan& plan, halogen_error* error);

}  // namespace halogen::cpu
