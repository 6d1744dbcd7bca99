// Small graphs with weights of their own, for asking a backend about one operator at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "halogen/backend.h"

#include "core/base/result.h"
#include "core/check/guarded_memory.h"
#include "core/graph/graph.h"

namespace halogen::check {

class TestGraph {
 public:
  using Value = GraphBuilder::Value;

  // Outputs go through `hidden`, [rows, width], so that they need no vocabulary of their size.
  TestGraph(std::mt19937 random, uint32_t vocabulary, uint32_t hidden_width);

  GraphBuilder& builder() { return builder_; }
  std::mt19937& random() { return random_; }
  uint32_t vocabulary() const { return vocabulary_; }

  // A random weight, at the worst alignment that the contract allows and with nothing readable
  // behind it. `spread` is the deviation of plain types.
  Value weight(halogen_type type, const std::vector<int64_t>& dims, float spread = 0.05F);
  // One with these bytes.
  Value weight(halogen_type type, const std::vector<int64_t>& dims,
               const std::vector<uint8_t>& bytes);

  // Of the elements of the weight that was made last.
  double root_mean_square() const { return root_mean_square_; }

  // Random activations [tokens, width] that are exact: looked up in a table of floats by token id.
  // `kept_as`: a KV pool of this type, and one of floats, keeps them as they are. F16: they fit
  // halves; Q8_0 and Q4_0: every 32 have a step that is a power of two.
  Value activations(int64_t width, float spread = 1.0F, halogen_type kept_as = HALOGEN_F32);
  // The same as [tokens, heads, size].
  Value heads(int64_t heads, int64_t size, float spread = 1.0F, halogen_type kept_as = HALOGEN_F32);

  // Makes `value`, of any number of dimensions, the output of the wanted rows.
  void output(Value value, int64_t width);

  Status finish();
  const halogen_graph& graph() const { return graph_->table(); }
  // [graph().n_weights], in the order of weight()
  const std::vector<const void*>& weights() const { return pointers_; }
  std::vector<halogen_weight_data> weight_data() const;

 private:
  std::mt19937 random_;
  uint32_t vocabulary_;
  GraphBuilder builder_;
  std::optional<Graph> graph_;
  std::vector<GuardedMemory> memory_;
  std::vector<const void*> pointers_;
  double root_mean_square_ = 0;
};

}  // namespace halogen::check
