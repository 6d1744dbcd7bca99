// What a step costs at least, counted from the graph: the bytes that must be read and the
// operations that must be done. Weights are read once a step, keys and values once for each
// sequence, and of a table in which tokens are only looked up a row for each. Activations stay in
// the caches and are not counted.
#pragma once

#include <cstdint>
#include <vector>

#include "halogen/backend.h"

namespace halogen::backends {

class StepCost {
 public:
  struct Figures {
    uint64_t bytes = 0;
    uint64_t operations = 0;  // a multiply-add is two
  };

  // `graph` is read here and not kept.
  StepCost(const halogen_graph& graph, const halogen_kv_geometry& geometry);

  // [any] Allocates nothing.
  Figures of(const halogen_step& step) const;

 private:
  struct Attention {
    uint64_t position_bytes;       // K and V of one position
    uint64_t position_operations;  // of one token with one position
    uint32_t window;               // 0: none
  };

  void count_weights(const halogen_graph& graph);
  void count_products(const halogen_graph& graph, const halogen_node& node);
  void count_attention(const halogen_graph& graph, const halogen_node& node,
                       const halogen_kv_geometry& geometry);

  uint64_t weight_bytes_ = 0;      // read in every step
  uint64_t row_weight_bytes_ = 0;  // and in those that rows are wanted of
  uint64_t looked_up_bytes_ = 0;   // for each token
  uint64_t token_operations_ = 0, row_operations_ = 0;
  std::vector<Attention> attention_;
};

}  // namespace halogen::backends
