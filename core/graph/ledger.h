// What a step costs at least: the bytes that must cross the memory bus and the operations that must
// be done, counted from the graph alone. Ceilings and shares of ceilings are taken of these.
//
// Counted are weights, the KV pool and the products with weights and with keys and values.
// Activations, norms and rotations are left out: they stay in caches and weigh less than a percent.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halogen/backend.h"
#include "halogen/graph.h"

namespace halogen {

// What one sequence does in a step: its last `tokens` of `context` positions are computed.
struct StepShare {
  uint32_t tokens = 1;
  uint32_t context = 1;  // after the step
  uint32_t rows = 1;     // of its tokens, those whose logits are wanted
};

struct StepCost {
  uint64_t bytes = 0;
  // Multiply-adds count as two.
  uint64_t quantised_operations = 0;  // products with quantised weights
  uint64_t float_operations = 0;      // products with float weights, and attention
};

class Ledger {
 public:
  // `graph` is read here and not kept.
  Ledger(const halogen_graph& graph, halogen_type key_type, halogen_type value_type);

  // Of all weights, and of those that a step with a wanted row reads in full: all but tables in
  // which tokens are only looked up.
  uint64_t weight_bytes() const { return weight_bytes_; }
  uint64_t read_weight_bytes() const { return read_weight_bytes_; }

  // What the pool holds of one token, over all layers.
  uint64_t kv_token_bytes() const;
  // What a step reads of a sequence's keys and values at this context: layers with a window read no
  // more than the window.
  uint64_t kv_read_bytes(uint32_t context) const;

  // Weights are read once a step, and keys and values once for each sequence, however many of its
  // tokens are computed.
  StepCost step(std::span<const StepShare> sequences) const;

 private:
  struct Attention {
    uint64_t token_bytes;          // that the pool holds
    uint64_t position_operations;  // of one token with one position
    uint32_t window;               // 0: none
  };
  struct Products {
    uint64_t quantised = 0, floats = 0;
  };

  void count_linear(const halogen_graph& graph, const halogen_node& node);
  void count_attention(const halogen_graph& graph, const halogen_node& node, halogen_type key_type,
                       halogen_type value_type);

  uint64_t weight_bytes_ = 0, read_weight_bytes_ = 0, looked_up_row_bytes_ = 0;
  Products per_token_, per_row_;
  std::vector<Attention> attention_;
};

}  // namespace halogen
