// A copy of a graph whose parts can be changed into what no builder makes.
#pragma once

#include <algorithm>
#include <vector>

#include "halogen/graph.h"

namespace halogen::check {

// The layers of the original are shared, so it has to live as long.
class AlteredGraph {
 public:
  explicit AlteredGraph(const halogen_graph& graph) : table(graph) {
    for (uint32_t i = 0; i < graph.n_values; i++) values.push_back(*graph.values[i]);
    for (uint32_t i = 0; i < graph.n_nodes; i++) nodes.push_back(*graph.nodes[i]);
    for (uint32_t i = 0; i < graph.n_weights; i++) weights.push_back(*graph.weights[i]);
    for (const auto& value : values) value_pointers_.push_back(&value);
    for (const auto& node : nodes) node_pointers_.push_back(&node);
    for (const auto& weight : weights) weight_pointers_.push_back(&weight);
    table.values = value_pointers_.data();
    table.nodes = node_pointers_.data();
    table.weights = weight_pointers_.data();
  }
  AlteredGraph(const AlteredGraph&) = delete;
  AlteredGraph& operator=(const AlteredGraph&) = delete;

  // The first node of this operator, which there must be.
  halogen_node& node_of(halogen_op op) {
    return *std::find_if(nodes.begin(), nodes.end(),
                         [op](const halogen_node& node) { return node.op == op; });
  }

  halogen_graph table;
  std::vector<halogen_value> values;
  std::vector<halogen_node> nodes;
  std::vector<halogen_weight> weights;

 private:
  std::vector<const halogen_value*> value_pointers_;
  std::vector<const halogen_node*> node_pointers_;
  std::vector<const halogen_weight*> weight_pointers_;
};

}  // namespace halogen::check
