// A graph as a compiler of any backend reads it: shapes, views, and sums that a product can do.
#pragma once

#include <vector>

#include "halogen/graph.h"

namespace halogen::backends {

// What a matrix's rows belong to.
enum class Domain : uint8_t { tokens, rows };

class GraphView {
 public:
  // The graph outlives the view.
  explicit GraphView(const halogen_graph& graph);

  const halogen_graph& graph() const { return graph_; }
  const halogen_value& value(halogen_value_id id) const { return *graph_.values[id]; }
  const halogen_node& node(uint32_t index) const { return *graph_.nodes[index]; }

  // Elements of a row: of all dimensions but the first.
  static uint32_t width(const halogen_value& value);
  static uint32_t last_dim(const halogen_value& value) {
    return static_cast<uint32_t>(value.dims[value.n_dims - 1]);
  }
  static uint64_t elements(const halogen_value& value);  // of a value without symbolic sizes
  static Domain domain(const halogen_value& value) {
    return value.dims[0] == HALOGEN_DIM_ROWS ? Domain::rows : Domain::tokens;
  }
  static bool is_view(halogen_op op) { return op == HALOGEN_OP_RESHAPE || op == HALOGEN_OP_SPLIT; }
  // An optional input that may lie past the node's last; HALOGEN_NO_VALUE where it is absent.
  static halogen_value_id input(const halogen_node& node, uint32_t index) {
    return index < node.n_inputs ? node.inputs[index] : HALOGEN_NO_VALUE;
  }

  // The value that a view shows a part of.
  halogen_value_id root(halogen_value_id id) const;

  // An add of a product that nobody else reads to something that exists before it is done by the
  // product: what that product's node adds, or HALOGEN_NO_VALUE.
  halogen_value_id residual_of(uint32_t node) const { return residual_of_[node]; }
  // The value that a product's node makes: its own, or the sum.
  halogen_value_id product_of(uint32_t node) const { return product_of_[node]; }
  // An add that its product does.
  bool fused(uint32_t node) const { return fused_[node]; }

 private:
  void count_uses();
  void find_residuals();
  bool fuse(const halogen_node& add, halogen_value_id product, halogen_value_id other);

  const halogen_graph& graph_;
  std::vector<uint32_t> uses_;  // [values]: how often a value or a view of it is read
  std::vector<halogen_value_id> residual_of_, product_of_;  // [nodes]
  std::vector<bool> fused_;                                 // [nodes]
};

}  // namespace halogen::backends
