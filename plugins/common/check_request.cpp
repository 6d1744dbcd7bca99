#include "plugins/common/check_request.h"

#include <tuple>

#include "halogen/cxx/plugin.hpp"

namespace halogen::backends {
namespace {

// `what`: "K" or "V".
halogen_status check_kv_type(const std::string& backend, const std::string& what, halogen_type type,
                             uint32_t dim, halogen_error* error) {
  if (type != HALOGEN_F32 && type != HALOGEN_F16 && type != HALOGEN_Q8_0 && type != HALOGEN_Q4_0) {
    const halogen_type_traits* traits = halogen_type_find(type);
    return failed(error, HALOGEN_E_UNSUPPORTED,
                  "the " + backend +
                      " backend keeps K and V as F32, F16, Q8_0 or Q4_0, and not as " +
                      (traits ? traits->name : "type " + std::to_string(type)));
  }
  if (halogen_row_bytes(type, dim) != 0) return HALOGEN_OK;
  const halogen_type_traits& traits = *halogen_type_find(type);
  return failed(error, HALOGEN_E_UNSUPPORTED,
                what + " of this model has " + std::to_string(dim) + " elements in a head, which " +
                    traits.name + " with its blocks of " + std::to_string(traits.block_elements) +
                    " cannot hold; set kv.cache_type_" + (what == "K" ? "k" : "v") + " to f16");
}

}  // namespace

halogen_status check_request(const std::string& backend, const halogen_program_request& request,
                             halogen_error* error) {
  const halogen_kv_geometry& geometry = *request.geometry;
  if (geometry.block_tokens == 0) return failed(error, HALOGEN_E_INVALID, "KV blocks of no tokens");
  for (uint32_t i = 0; i < request.graph->n_kv_layers; i++) {
    const halogen_kv_layer& layer = *request.graph->kv_layers[i];
    for (const auto& [what, type, dim] : {std::tuple("K", geometry.key_type, layer.key_dim),
                                          std::tuple("V", geometry.value_type, layer.value_dim)}) {
      if (const halogen_status status = check_kv_type(backend, what, type, dim, error);
          status != HALOGEN_OK) {
        return status;
      }
    }
  }
  if (request.shard && request.shard->world > 1) {
    return failed(error, HALOGEN_E_UNSUPPORTED,
                  "the " + backend + " backend computes whole models only");
  }
  return HALOGEN_OK;
}

halogen_status check_graph(const halogen_graph& graph, const halogen_weight_data* weights,
                           NodeCheck* check_node, halogen_error* error) {
  for (uint32_t i = 0; i < graph.n_nodes; i++) {
    if (const halogen_status status = check_node(graph, *graph.nodes[i], error);
        status != HALOGEN_OK) {
      return status;
    }
  }
  for (uint32_t i = 0; weights && i < graph.n_weights; i++) {
    if (weights[i].data && weights[i].bytes == graph.weights[i]->bytes) continue;
    return failed(error, HALOGEN_E_INVALID,
                  std::string("weight '") + graph.weights[i]->name + "' has " +
                      std::to_string(weights[i].bytes) + " bytes where the graph needs " +
                      std::to_string(graph.weights[i]->bytes));
  }
  return HALOGEN_OK;
}

}  // namespace halogen::backends
