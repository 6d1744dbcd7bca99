// A whole graph, one step, in float64: what a backend's answers are measured against.
#pragma once

#include <span>

#include "halogen/backend.h"

#include "core/base/result.h"
#include "core/check/reference/attention.h"
#include "core/check/reference/precision.h"
#include "core/check/reference/tensor.h"

namespace halogen::reference {

struct Outputs {
  Tensor logits;  // [rows, vocabulary], or empty
  Tensor hidden;  // [rows, hidden], or empty
};

// [any] Whether evaluate() knows a node's operator and weight types; the sentence says what not.
Status knows(const halogen_graph& graph, const halogen_node& node);

// [any] One step over `graph` with weights[i] being the bytes of graph.weights[i]; only the step's
// inputs are read. K and V go into `cache` and are found there by later steps.
Outputs evaluate(const halogen_graph& graph, std::span<const void* const> weights,
                 const halogen_step& step, KvCache& cache, Precision precision);

}  // namespace halogen::reference
