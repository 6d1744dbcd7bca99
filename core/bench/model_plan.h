// Whether a model fits a machine and how fast it can be there, before a byte of it is loaded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/serve/served_model.h"

namespace halogen::bench {

// The machine that is planned for.
struct PlannedMachine {
  uint64_t memory_bytes = 0;
  double read_bandwidth = 0;  // bytes per second; 0: unknown, and then no speed is told
};

struct ModelPlan {
  struct Weights {
    std::string type;  // "Q4_K"
    uint32_t tensors = 0;
    uint64_t bytes = 0;
  };
  // What sequences of one length get.
  struct Length {
    uint32_t context = 0;
    uint64_t streams = 0;    // whole sequences of this length that the pool holds at once
    double one_stream = 0;   // tokens per second at most, the context being full
    double all_streams = 0;  // of `together` streams, all of them together
    uint64_t together = 0;   // those that fit and that are served at once
  };
  struct Cache {
    std::string type;  // as kv.cache_type has it; "q8_0 and q4_0" where keys and values differ
    uint64_t token_bytes = 0;  // in the pool, over all layers
    uint64_t pool_bytes = 0, pool_tokens = 0;
    std::vector<Length> lengths;
  };

  std::string architecture;
  uint32_t layers = 0, windowed_layers = 0, window = 0;
  uint32_t context = 0;          // of one sequence, as the profile or the model has it
  std::vector<Weights> weights;  // the largest first
  uint64_t weight_bytes = 0;
  uint64_t token_weight_bytes = 0;  // that a decode step reads
  uint64_t program_bytes = 0;
  PlannedMachine machine;
  std::string problem;     // why it does not fit; empty: it does
  std::string cache_type;  // the one that the profile asks for
  std::vector<Cache> caches;

  bool fits() const { return problem.empty(); }
  // Tokens per second of one stream at the start of its context.
  double ceiling() const;
};

// [worker] The plan for what a profile asks for. It does not fit where loading would refuse it.
ModelPlan plan_model(const ModelNeeds& needs, const PlannedMachine& machine);

// As the terminal shows it, and as JSON.
std::string plan_text(const ModelPlan& plan);
std::string plan_json(const ModelPlan& plan);

}  // namespace halogen::bench
