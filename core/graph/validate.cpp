#include "core/graph/graph.h"

namespace halogen {
namespace {

Error broken(uint32_t node, const halogen_node& n, const std::string& why) {
  return fail(HALOGEN_E_INVALID,
              "graph node " + std::to_string(node) + " (" + op_name(n.op) + "): " + why);
}

Status validate_value(const halogen_graph& graph, uint32_t index) {
  const halogen_value& value = *graph.values[index];
  const std::string where = "graph value " + std::to_string(index) + ": ";
  if (value.n_dims == 0 || value.n_dims > HALOGEN_MAX_DIMS) {
    return fail(HALOGEN_E_INVALID,
                where + "it has " + std::to_string(value.n_dims) + " dimensions");
  }
  for (uint32_t d = 0; d < value.n_dims; d++) {
    const bool symbolic = value.dims[d] < 0;
    if (value.dims[d] == 0 || (symbolic && (d > 0 || value.dims[d] < HALOGEN_DIM_ROWS))) {
      return fail(HALOGEN_E_INVALID,
                  where + "bad dimensions " + print_dims(value.dims, value.n_dims));
    }
  }
  switch (value.kind) {
    case HALOGEN_VALUE_WEIGHT:
      if (value.source >= graph.n_weights) return fail(HALOGEN_E_INVALID, where + "no such weight");
      break;
    case HALOGEN_VALUE_RESULT:
      if (value.source >= graph.n_nodes) return fail(HALOGEN_E_INVALID, where + "no such node");
      break;
    case HALOGEN_VALUE_INPUT:
      if (value.source < HALOGEN_INPUT_TOKEN_IDS || value.source > HALOGEN_INPUT_EMBEDDINGS) {
        return fail(HALOGEN_E_INVALID, where + "no such step input");
      }
      break;
    default:
      return fail(HALOGEN_E_INVALID, where + "unknown kind");
  }
  return {};
}

Status validate_node(const halogen_graph& graph, uint32_t index) {
  const halogen_node& node = *graph.nodes[index];
  if (node.n_inputs > HALOGEN_MAX_INPUTS || node.n_outputs == 0 ||
      node.n_outputs > HALOGEN_MAX_OUTPUTS) {
    return broken(index, node, "bad number of inputs or outputs");
  }
  for (uint32_t i = 0; i < node.n_inputs; i++) {
    const halogen_value_id id = node.inputs[i];
    if (id == HALOGEN_NO_VALUE) continue;
    if (id >= graph.n_values)
      return broken(index, node, "input " + std::to_string(i) + " does not exist");
    const halogen_value& value = *graph.values[id];
    if (value.kind == HALOGEN_VALUE_RESULT && value.source >= index) {
      return broken(index, node, "input " + std::to_string(i) + " is computed later");
    }
  }
  for (uint32_t i = 0; i < node.n_outputs; i++) {
    const halogen_value_id id = node.outputs[i];
    if (id >= graph.n_values || graph.values[id]->kind != HALOGEN_VALUE_RESULT ||
        graph.values[id]->source != index) {
      return broken(index, node, "output " + std::to_string(i) + " is not its own");
    }
  }
  if (node.op == HALOGEN_OP_ATTEND && node.attributes.attend.kv_layer >= graph.n_kv_layers) {
    return broken(index, node, "no such KV layer");
  }
  return {};
}

}  // namespace

Status validate(const halogen_graph& graph) {
  for (uint32_t i = 0; i < graph.n_values; i++) {
    if (auto status = validate_value(graph, i); !status) return status;
  }
  for (uint32_t i = 0; i < graph.n_nodes; i++) {
    if (auto status = validate_node(graph, i); !status) return status;
  }
  if (graph.logits != HALOGEN_NO_VALUE) {
    if (graph.logits >= graph.n_values)
      return fail(HALOGEN_E_INVALID, "graph: its logits do not exist");
    const halogen_value& logits = *graph.values[graph.logits];
    if (logits.n_dims != 2 || logits.dims[0] != HALOGEN_DIM_ROWS ||
        logits.dims[1] != static_cast<int64_t>(graph.vocabulary_size)) {
      return fail(HALOGEN_E_INVALID, "graph: its logits are " +
                                         print_dims(logits.dims, logits.n_dims) + " and not [R, " +
                                         std::to_string(graph.vocabulary_size) + "]");
    }
  }
  if (graph.hidden != HALOGEN_NO_VALUE && graph.hidden >= graph.n_values) {
    return fail(HALOGEN_E_INVALID, "graph: its hidden state does not exist");
  }
  return {};
}

}  // namespace halogen
