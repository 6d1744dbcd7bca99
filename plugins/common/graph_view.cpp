#include "plugins/common/graph_view.h"

namespace halogen::backends {

GraphView::GraphView(const halogen_graph& graph)
    : graph_(graph),
      uses_(graph.n_values),
      residual_of_(graph.n_nodes, HALOGEN_NO_VALUE),
      product_of_(graph.n_nodes, HALOGEN_NO_VALUE),
      fused_(graph.n_nodes) {
  for (uint32_t i = 0; i < graph.n_nodes; i++)
    if (node(i).n_outputs > 0) product_of_[i] = node(i).outputs[0];
  count_uses();
  find_residuals();
}

uint32_t GraphView::width(const halogen_value& value) {
  int64_t product = 1;
  for (uint32_t d = 1; d < value.n_dims; d++) product *= value.dims[d];
  return static_cast<uint32_t>(product);
}

uint64_t GraphView::elements(const halogen_value& value) {
  uint64_t product = 1;
  for (uint32_t d = 0; d < value.n_dims; d++) product *= static_cast<uint64_t>(value.dims[d]);
  return product;
}

halogen_value_id GraphView::root(halogen_value_id id) const {
  while (value(id).kind == HALOGEN_VALUE_RESULT && is_view(node(value(id).source).op)) {
    id = node(value(id).source).inputs[0];
  }
  return id;
}

void GraphView::count_uses() {
  for (uint32_t i = 0; i < graph_.n_nodes; i++) {
    if (is_view(node(i).op)) continue;
    for (uint32_t j = 0; j < node(i).n_inputs; j++) {
      if (node(i).inputs[j] != HALOGEN_NO_VALUE) uses_[root(node(i).inputs[j])]++;
    }
  }
  for (const halogen_value_id id : {graph_.logits, graph_.hidden}) {
    if (id != HALOGEN_NO_VALUE) uses_[root(id)]++;
  }
}

void GraphView::find_residuals() {
  for (uint32_t i = 0; i < graph_.n_nodes; i++) {
    const halogen_node& add = node(i);
    if (add.op != HALOGEN_OP_ADD) continue;
    fused_[i] = fuse(add, add.inputs[0], add.inputs[1]) || fuse(add, add.inputs[1], add.inputs[0]);
  }
}

bool GraphView::fuse(const halogen_node& add, halogen_value_id product, halogen_value_id other) {
  const halogen_value& p = value(product);
  const halogen_value& o = value(other);
  const bool linear = p.kind == HALOGEN_VALUE_RESULT && node(p.source).op == HALOGEN_OP_LINEAR;
  const bool earlier = o.kind == HALOGEN_VALUE_RESULT && value(root(other)).source < p.source;
  if (!linear || !earlier || uses_[product] != 1 || width(p) != width(o) ||
      o.dims[0] != p.dims[0] || residual_of_[p.source] != HALOGEN_NO_VALUE) {
    return false;
  }
  residual_of_[p.source] = other;
  product_of_[p.source] = add.outputs[0];
  return true;
}

}  // namespace halogen::backends
