// Which nodes the backend can run.
#include <string>

#include "plugins/common/weight_types.h"
#include "plugins/vulkan/failure.h"
#include "plugins/vulkan/plan.h"
#include "plugins/vulkan/shaders.h"

namespace halogen::vulkan {
namespace {

// Threads of an attention workgroup hold four columns of V each.
constexpr int64_t kLargestHead = 512;
// What a workgroup sorts.
constexpr int64_t kMostExperts = 1024;

using backends::type_name;

halogen_status refuse(halogen_error* error, const std::string& what) {
  return failed(error, HALOGEN_E_UNSUPPORTED, "the Vulkan backend has no shader for " + what);
}

class NodeCheck {
 public:
  NodeCheck(const halogen_graph& graph, const halogen_node& node, halogen_error* error)
      : graph_(graph), node_(node), error_(error) {}

  halogen_status run() const {
    if (const halogen_value* vector = backends::find_packed_vector(graph_, node_)) {
      return refuse(error_, std::string("the vector '") + vector->name + "' stored as " +
                                type_name(vector->type));
    }
    switch (node_.op) {
      case HALOGEN_OP_EMBED:
      case HALOGEN_OP_LINEAR:
      case HALOGEN_OP_MOE_LINEAR:
        return check_matrix();
      case HALOGEN_OP_MOE_ROUTE:
        return check_route();
      case HALOGEN_OP_NORM:
        return check_norm();
      case HALOGEN_OP_ATTEND:
        return check_attention();
      case HALOGEN_OP_GLU:
      case HALOGEN_OP_ACTIVATE:
        return check_activation();
      case HALOGEN_OP_SPLIT:
      case HALOGEN_OP_CONCAT:
        return check_flat();
      case HALOGEN_OP_ROPE:
      case HALOGEN_OP_ADD:
      case HALOGEN_OP_MUL:
      case HALOGEN_OP_SCALE:
      case HALOGEN_OP_SOFTCAP:
      case HALOGEN_OP_SELECT_ROWS:
      case HALOGEN_OP_RESHAPE:
      case HALOGEN_OP_MOE_COMBINE:
        return HALOGEN_OK;
      default:
        return refuse(error_, "operator " + std::to_string(node_.op));
    }
  }

 private:
  // Null for one that is absent.
  const halogen_value* input(uint32_t index) const {
    const halogen_value_id id = backends::GraphView::input(node_, index);
    return id == HALOGEN_NO_VALUE ? nullptr : graph_.values[id];
  }

  halogen_status check_flat() const {
    if (input(0) && input(0)->n_dims == 2) return HALOGEN_OK;
    return refuse(error_,
                  "operator " + std::to_string(node_.op) + " over more than two dimensions");
  }

  halogen_status check_matrix() const {
    const halogen_value* matrix = input(1);
    if (matrix && matrix->kind == HALOGEN_VALUE_WEIGHT &&
        find_shader(std::string("matvec_") + type_name(matrix->type))) {
      if (node_.op == HALOGEN_OP_MOE_LINEAR) return check_experts();
      return node_.op == HALOGEN_OP_LINEAR ? check_flat() : HALOGEN_OK;
    }
    return refuse(error_, std::string("the matrix '") + (matrix ? matrix->name : "?") +
                              "' stored as " + type_name(matrix ? matrix->type : 0));
  }

  // Inputs of single choices begin on 16 bytes.
  halogen_status check_experts() const {
    const halogen_value* x = input(0);
    if (input(1)->n_dims == 3 && input(1)->dims[0] <= kMostExperts && x &&
        (x->n_dims == 2 || (x->n_dims == 3 && x->dims[2] % 4 == 0))) {
      return HALOGEN_OK;
    }
    return refuse(error_, std::string("the experts '") + input(1)->name + "' over such inputs");
  }

  halogen_status check_route() const {
    const halogen_route_attributes& route = node_.attributes.route;
    if (route.groups > 1) return refuse(error_, "routing limited to groups of experts");
    if (route.scoring > 2)
      return refuse(error_, "routing by scores " + std::to_string(route.scoring));
    if (route.experts > kMostExperts)
      return refuse(error_, "routing among " + std::to_string(route.experts) + " experts");
    return HALOGEN_OK;
  }

  halogen_status check_norm() const {
    const halogen_norm_kind kind = node_.attributes.norm.kind;
    if (kind == HALOGEN_NORM_RMS || kind == HALOGEN_NORM_LAYER || kind == HALOGEN_NORM_L2)
      return HALOGEN_OK;
    return refuse(error_, "norm " + std::to_string(kind));
  }

  halogen_status check_attention() const {
    for (const uint32_t i : {0, 2}) {
      const halogen_value* heads = input(i);
      const int64_t size = heads ? heads->dims[heads->n_dims - 1] : 0;
      if (size > kLargestHead)
        return refuse(error_, "attention with heads of " + std::to_string(size) + " elements");
    }
    return HALOGEN_OK;
  }

  halogen_status check_activation() const {
    const halogen_activation activation = node_.attributes.glu.activation;
    const halogen_activation last =
        node_.op == HALOGEN_OP_GLU ? HALOGEN_SWIGLU_CLAMPED : HALOGEN_SIGMOID;
    if (activation >= HALOGEN_SILU && activation <= last) return HALOGEN_OK;
    return refuse(error_, "activation " + std::to_string(activation));
  }

  const halogen_graph& graph_;
  const halogen_node& node_;
  halogen_error* error_;
};

}  // namespace

halogen_status check_node(const halogen_graph& graph, const halogen_node& node,
                          halogen_error* error) {
  return NodeCheck(graph, node, error).run();
}

}  // namespace halogen::vulkan
