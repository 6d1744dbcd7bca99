#include "plugins/common/weight_types.h"

namespace halogen::backends {

const char* type_name(halogen_type type) {
  const halogen_type_traits* traits = halogen_type_find(type);
  return traits ? traits->name : "of unknown type";
}

const halogen_value* find_packed_vector(const halogen_graph& graph, const halogen_node& node) {
  const bool has_matrix = node.op == HALOGEN_OP_EMBED || node.op == HALOGEN_OP_LINEAR ||
                          node.op == HALOGEN_OP_MOE_LINEAR;
  for (uint32_t i = has_matrix ? 2 : 0; i < node.n_inputs; i++) {
    if (node.inputs[i] == HALOGEN_NO_VALUE) continue;
    const halogen_value& value = *graph.values[node.inputs[i]];
    const bool plain =
        value.type == HALOGEN_F32 || value.type == HALOGEN_F16 || value.type == HALOGEN_BF16;
    if (value.kind == HALOGEN_VALUE_WEIGHT && !plain) return &value;
  }
  return nullptr;
}

}  // namespace halogen::backends
