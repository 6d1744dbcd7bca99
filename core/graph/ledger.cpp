#include "core/graph/ledger.h"

#include <algorithm>

namespace halogen {
namespace {

bool is_float(halogen_type type) {
  return type == HALOGEN_F32 || type == HALOGEN_F16 || type == HALOGEN_BF16;
}

// How many of a sequence's positions a layer reads.
uint64_t seen(uint64_t context, uint64_t window) {
  return window == 0 ? context : std::min(context, window);
}

// Pairs of a token and a position that it sees, for the last `tokens` of `context` positions.
uint64_t pairs(uint64_t tokens, uint64_t context, uint64_t window) {
  uint64_t sum = 0;
  for (uint64_t length = context - tokens + 1; length <= context; length++)
    sum += seen(length, window);
  return sum;
}

}  // namespace

Ledger::Ledger(const halogen_graph& graph, halogen_type key_type, halogen_type value_type) {
  std::vector<bool> only_looked_up(graph.n_weights, false);
  for (uint32_t i = 0; i < graph.n_nodes; i++) {
    const halogen_node& node = *graph.nodes[i];
    if (node.op != HALOGEN_OP_EMBED) continue;
    const uint32_t table = graph.values[node.inputs[1]]->source;
    only_looked_up[table] = true;
    const halogen_weight& weight = *graph.weights[table];
    looked_up_row_bytes_ += halogen_row_bytes(weight.type, static_cast<uint64_t>(weight.dims[1]));
  }
  for (uint32_t i = 0; i < graph.n_nodes; i++) {
    const halogen_node& node = *graph.nodes[i];
    if (node.op == HALOGEN_OP_LINEAR) {
      only_looked_up[graph.values[node.inputs[1]]->source] = false;
      count_linear(graph, node);
    }
    if (node.op == HALOGEN_OP_ATTEND) count_attention(graph, node, key_type, value_type);
  }
  for (uint32_t i = 0; i < graph.n_weights; i++) {
    weight_bytes_ += graph.weights[i]->bytes;
    if (!only_looked_up[i]) read_weight_bytes_ += graph.weights[i]->bytes;
  }
}

void Ledger::count_linear(const halogen_graph& graph, const halogen_node& node) {
  const halogen_weight& weight = *graph.weights[graph.values[node.inputs[1]]->source];
  const uint64_t operations =
      2 * static_cast<uint64_t>(weight.dims[0]) * static_cast<uint64_t>(weight.dims[1]);
  Products& products =
      graph.values[node.inputs[0]]->dims[0] == HALOGEN_DIM_ROWS ? per_row_ : per_token_;
  (is_float(weight.type) ? products.floats : products.quantised) += operations;
}

void Ledger::count_attention(const halogen_graph& graph, const halogen_node& node,
                             halogen_type key_type, halogen_type value_type) {
  const halogen_kv_layer& layer = *graph.kv_layers[node.attributes.attend.kv_layer];
  const auto heads = static_cast<uint64_t>(graph.values[node.inputs[0]]->dims[1]);
  attention_.push_back({layer.kv_heads * (halogen_row_bytes(key_type, layer.key_dim) +
                                          halogen_row_bytes(value_type, layer.value_dim)),
                        2 * heads * (uint64_t{layer.key_dim} + layer.value_dim), layer.window});
}

uint64_t Ledger::kv_token_bytes() const {
  uint64_t bytes = 0;
  for (const Attention& layer : attention_) bytes += layer.token_bytes;
  return bytes;
}

uint64_t Ledger::kv_read_bytes(uint32_t context) const {
  uint64_t bytes = 0;
  for (const Attention& layer : attention_)
    bytes += layer.token_bytes * seen(context, layer.window);
  return bytes;
}

StepCost Ledger::step(std::span<const StepShare> sequences) const {
  StepCost cost;
  cost.bytes = read_weight_bytes_;
  for (const StepShare& share : sequences) {
    cost.bytes += kv_read_bytes(share.context) + share.tokens * looked_up_row_bytes_;
    cost.quantised_operations +=
        share.tokens * per_token_.quantised + share.rows * per_row_.quantised;
    cost.float_operations += share.tokens * per_token_.floats + share.rows * per_row_.floats;
    for (const Attention& layer : attention_) {
      cost.float_operations +=
          layer.position_operations * pairs(share.tokens, share.context, layer.window);
    }
  }
  return cost;
}

}  // namespace halogen
