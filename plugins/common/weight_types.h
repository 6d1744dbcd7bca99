// Types of weights as every backend of ours looks at them before it has read one.
#pragma once

#include "halogen/graph.h"

namespace halogen::backends {

// [any] "Q4_K", or "of unknown type".
const char* type_name(halogen_type type);

// [any] Beside the matrices of embeddings and products, weights are vectors (norms, biases,
// factors), which are brought to F32 when a program is made: one of `node` that is stored as
// anything but F32, F16 or BF16, or null.
const halogen_value* find_packed_vector(const halogen_graph& graph, const halogen_node& node);

}  // namespace halogen::backends
