// What a request for a program may ask of any backend of ours.
#pragma once

#include <string>

#include "halogen/backend.h"

namespace halogen::backends {

// [any] K and V of a type that is kept and fits the heads, blocks of some tokens, a whole model.
// `backend` is what a message calls it.
halogen_status check_request(const std::string& backend, const halogen_program_request& request,
                             halogen_error* error);

// [any] What a backend says of one node.
using NodeCheck = halogen_status(const halogen_graph& graph, const halogen_node& node,
                                 halogen_error* error);

// [any] Every node, and then HALOGEN_E_INVALID for a weight without data or of another size than
// the graph's; `weights` may be null.
halogen_status check_graph(const halogen_graph& graph, const halogen_weight_data* weights,
                           NodeCheck* check_node, halogen_error* error);

}  // namespace halogen::backends
