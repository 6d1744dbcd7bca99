// How fast a model runs here, without a server: prefill and decode through the real backend, each
// beside what the machine could do at most.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/bench/machine_speed.h"
#include "core/bench/statistics.h"
#include "core/graph/ledger.h"
#include "core/serve/served_model.h"

namespace halogen::bench {

struct OfflineOptions {
  std::vector<uint32_t> prefills{512, 2048};      // prompt lengths
  std::vector<uint32_t> depths{0, 4096};          // tokens in the cache before a decode
  std::vector<uint32_t> batches{1, 2, 4, 8, 16};  // sequences that decode together
  uint32_t tokens = 64;                           // decoded by each of them
  uint32_t repetitions = 5;

  // What the model has to be loaded for.
  uint32_t longest_context() const;
  uint32_t largest_batch() const;
  size_t row_count() const { return prefills.size() + depths.size() * batches.size(); }
};

struct OfflineRow {
  enum class Work : uint8_t { prefill, decode } work = Work::decode;
  uint32_t tokens = 0;  // of the prompt, or decoded by each sequence
  uint32_t depth = 0, batch = 1;
  Summary rate{};            // tokens per second, of all sequences together
  double milliseconds = 0;   // median: of a whole prompt, or of a decode step
  double gigabytes = 0;      // that had to be read per second, at the median
  double ceiling = 0;        // tokens per second that the machine could do
  bool memory_bound = true;  // whether the ceiling is the memory's or the arithmetic's

  std::string name() const;
  double share() const { return ceiling > 0 ? rate.median / ceiling : 0; }
};

// The least seconds that a cost takes on a machine: reading and computing overlap.
double least_seconds(const StepCost& cost, const MachineSpeed& speed, bool* memory_bound);

// [worker] Measures all rows, each as often as asked; `done` is told each row when it is there. The
// first error ends it. `speed` is the machine's with `threads`; how fast these read memory is
// measured again beside each row that decodes.
Status run_offline(const ServedModel& model, const OfflineOptions& options,
                   const MachineSpeed& speed, uint32_t threads,
                   const std::function<void(const OfflineRow&)>& done);

}  // namespace halogen::bench
