#include "plugins/common/step_cost.h"

#include <algorithm>

namespace halogen::backends {
namespace {

uint64_t seen(uint64_t context, uint64_t window) {
  return window == 0 ? context : std::min(context, window);
}

// Pairs of a token and a position that it sees, for the last `tokens` of `context` positions.
uint64_t pairs(uint64_t tokens, uint64_t context, uint64_t window) {
  if (window == 0 || context <= window) return tokens * (2 * context - tokens + 1) / 2;
  const uint64_t before = context - tokens;  // positions that the first token sees, but its own
  const uint64_t growing = std::min(tokens, window > before ? window - before : 0);
  return growing * (2 * before + growing + 1) / 2 + (tokens - growing) * window;
}

}  // namespace

StepCost::StepCost(const halogen_graph& graph, const halogen_kv_geometry& geometry) {
  count_weights(graph);
  for (uint32_t i = 0; i < graph.n_nodes; i++) {
    const halogen_node& node = *graph.nodes[i];
    if (node.op == HALOGEN_OP_LINEAR) count_products(graph, node);
    if (node.op == HALOGEN_OP_ATTEND) count_attention(graph, node, geometry);
  }
}

void StepCost::count_weights(const halogen_graph& graph) {
  enum Use : uint8_t { kUnused, kLookedUp, kByRows, kByTokens };
  std::vector<Use> uses(graph.n_weights, kUnused);
  for (uint32_t i = 0; i < graph.n_nodes; i++) {
    const halogen_node& node = *graph.nodes[i];
    const bool by_rows = graph.values[node.outputs[0]]->dims[0] == HALOGEN_DIM_ROWS;
    for (uint32_t k = 0; k < node.n_inputs; k++) {
      if (node.inputs[k] == HALOGEN_NO_VALUE) continue;
      const halogen_value& input = *graph.values[node.inputs[k]];
      if (input.kind != HALOGEN_VALUE_WEIGHT) continue;
      const Use use = node.op == HALOGEN_OP_EMBED ? kLookedUp : by_rows ? kByRows : kByTokens;
      uses[input.source] = std::max(uses[input.source], use);
      if (use != kLookedUp) continue;
      const halogen_weight& table = *graph.weights[input.source];
      looked_up_bytes_ += halogen_row_bytes(table.type, static_cast<uint64_t>(table.dims[1]));
    }
  }
  for (uint32_t i = 0; i < graph.n_weights; i++) {
    if (uses[i] == kByTokens) weight_bytes_ += graph.weights[i]->bytes;
    if (uses[i] == kByRows) row_weight_bytes_ += graph.weights[i]->bytes;
  }
}

void StepCost::count_products(const halogen_graph& graph, const halogen_node& node) {
  const halogen_weight& weight = *graph.weights[graph.values[node.inputs[1]]->source];
  const bool by_rows = graph.values[node.inputs[0]]->dims[0] == HALOGEN_DIM_ROWS;
  (by_rows ? row_operations_ : token_operations_) +=
      2 * static_cast<uint64_t>(weight.dims[0]) * static_cast<uint64_t>(weight.dims[1]);
}

void StepCost::count_attention(const halogen_graph& graph, const halogen_node& node,
                               const halogen_kv_geometry& geometry) {
  const halogen_kv_layer& layer = *graph.kv_layers[node.attributes.attend.kv_layer];
  const auto heads = static_cast<uint64_t>(graph.values[node.inputs[0]]->dims[1]);
  attention_.push_back({layer.kv_heads * (halogen_row_bytes(geometry.key_type, layer.key_dim) +
                                          halogen_row_bytes(geometry.value_type, layer.value_dim)),
                        2 * heads * (uint64_t{layer.key_dim} + layer.value_dim), layer.window});
}

StepCost::Figures StepCost::of(const halogen_step& step) const {
  Figures cost;
  cost.bytes = weight_bytes_ + step.n_tokens * looked_up_bytes_;
  if (step.n_rows > 0) cost.bytes += row_weight_bytes_;
  cost.operations = step.n_tokens * token_operations_ + step.n_rows * row_operations_;
  for (uint32_t s = 0; s < step.n_sequences; s++) {
    const uint64_t tokens = step.sequence_starts[s + 1] - step.sequence_starts[s];
    const uint64_t context = step.context_lengths[s];
    for (const Attention& layer : attention_) {
      cost.bytes += layer.position_bytes * seen(context, layer.window);
      cost.operations += layer.position_operations * pairs(tokens, context, layer.window);
    }
  }
  return cost;
}

}  // namespace halogen::backends
