// Which nodes the backend can run.
#include <string>

#include "halogen/cxx/plugin.hpp"

#include "plugins/common/weight_types.h"
#include "plugins/cpu/plan.h"

namespace halogen::cpu {
namespace {

halogen_status refuse(halogen_error* error, const std::string& what) {
  return failed(error, HALOGEN_E_UNSUPPORTED, "the CPU backend has no kernel for " + what);
}

bool known_activation(halogen_activation activation) {
  return activation >= HALOGEN_SILU && activation <= HALOGEN_SIGMOID;
}

}  // namespace

halogen_status check_node(const halogen_graph& graph, const halogen_node& node,
                          halogen_error* error) {
  const KernelSet& portable = kernels(InstructionSet::kPortable);
  const auto input = [&](uint32_t i) -> const halogen_value* {
    return i < node.n_inputs && node.inputs[i] != HALOGEN_NO_VALUE ? graph.values[node.inputs[i]]
                                                                   : nullptr;
  };
  if (const halogen_value* vector = backends::find_packed_vector(graph, node)) {
    return refuse(error, std::string("the vector '") + vector->name + "' stored as " +
                             backends::type_name(vector->type));
  }
  const bool flat_only =
      node.op == HALOGEN_OP_LINEAR || node.op == HALOGEN_OP_SPLIT || node.op == HALOGEN_OP_CONCAT;
  if (flat_only && (!input(0) || input(0)->n_dims != 2)) {
    return refuse(error, "operator " + std::to_string(node.op) + " over more than two dimensions");
  }
  switch (node.op) {
    case HALOGEN_OP_EMBED:
    case HALOGEN_OP_LINEAR:
      if (!input(1) || input(1)->kind != HALOGEN_VALUE_WEIGHT ||
          !portable.linear_exact(input(1)->type)) {
        return refuse(error, std::string("the matrix '") + (input(1) ? input(1)->name : "?") +
                                 "' stored as " +
                                 backends::type_name(input(1) ? input(1)->type : 0));
      }
      return HALOGEN_OK;
    case HALOGEN_OP_NORM:
      if (node.attributes.norm.kind == HALOGEN_NORM_L2) return refuse(error, "the L2 norm");
      if (node.attributes.norm.kind != HALOGEN_NORM_RMS &&
          node.attributes.norm.kind != HALOGEN_NORM_LAYER) {
        return refuse(error, "norm " + std::to_string(node.attributes.norm.kind));
      }
      return HALOGEN_OK;
    case HALOGEN_OP_ATTEND:
      if (node.attributes.attend.chunk != 0) return refuse(error, "chunked attention");
      return HALOGEN_OK;
    case HALOGEN_OP_GLU:
    case HALOGEN_OP_ACTIVATE:
      if (!known_activation(node.attributes.glu.activation)) {
        return refuse(error, "activation " + std::to_string(node.attributes.glu.activation));
      }
      return HALOGEN_OK;
    case HALOGEN_OP_ROPE:
    case HALOGEN_OP_ADD:
    case HALOGEN_OP_MUL:
    case HALOGEN_OP_SCALE:
    case HALOGEN_OP_SOFTCAP:
    case HALOGEN_OP_SELECT_ROWS:
    case HALOGEN_OP_RESHAPE:
    case HALOGEN_OP_SPLIT:
    case HALOGEN_OP_CONCAT:
      return HALOGEN_OK;
    default:
      return refuse(error, "operator " + std::to_string(node.op));
  }
}

}  // namespace halogen::cpu
