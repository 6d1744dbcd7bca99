#include "core/graph/graph.h"

namespace halogen {
namespace {

std::string name_of(const halogen_graph& graph, halogen_value_id id) {
  if (id == HALOGEN_NO_VALUE) return "-";
  const halogen_value& value = *graph.values[id];
  return value.kind == HALOGEN_VALUE_RESULT ? "%" + std::to_string(id) : value.name;
}

}  // namespace

const char* op_name(halogen_op op) {
  static const char* const names[] = {
      "?",           "embed",      "norm",        "linear",      "rope",  "attend",
      "glu",         "activate",   "add",         "mul",         "scale", "softcap",
      "moe_route",   "moe_linear", "moe_combine", "select_rows", "pool",  "conv_state",
      "gated_delta", "all_reduce", "reshape",     "split",       "concat"};
  return op >= HALOGEN_OP_EMBED && op <= HALOGEN_OP_CONCAT ? names[op] : names[0];
}

std::string print_dims(const int64_t* dims, uint32_t n_dims) {
  std::string text = "[";
  for (uint32_t i = 0; i < n_dims; i++) {
    if (i > 0) text += ", ";
    switch (dims[i]) {
      case HALOGEN_DIM_TOKENS:
        text += "T";
        break;
      case HALOGEN_DIM_SEQUENCES:
        text += "S";
        break;
      case HALOGEN_DIM_ROWS:
        text += "R";
        break;
      default:
        text += std::to_string(dims[i]);
    }
  }
  return text + "]";
}

std::string print(const halogen_graph& graph) {
  std::string text;
  for (uint32_t i = 0; i < graph.n_nodes; i++) {
    const halogen_node& node = *graph.nodes[i];
    const halogen_value& output = *graph.values[node.outputs[0]];
    text += name_of(graph, node.outputs[0]) + " = " + op_name(node.op) + "(";
    for (uint32_t j = 0; j < node.n_inputs; j++) {
      if (j > 0) text += ", ";
      text += name_of(graph, node.inputs[j]);
    }
    text += ") " + print_dims(output.dims, output.n_dims) + "\n";
  }
  if (graph.logits != HALOGEN_NO_VALUE) text += "logits = " + name_of(graph, graph.logits) + "\n";
  return text;
}

}  // namespace halogen
