#include "core/check/reference/evaluate.h"

#include <string>
#include <vector>

#include "core/check/reference/dequantise.h"
#include "core/check/reference/operators.h"
#include "core/graph/graph.h"

namespace halogen::reference {
namespace {

class Evaluation {
 public:
  Evaluation(const halogen_graph& graph, std::span<const void* const> weights,
             const halogen_step& step, KvCache& cache, Precision precision)
      : graph_(graph),
        weights_(weights),
        step_(step),
        cache_(cache),
        precision_(precision),
        tensors_(graph.n_values),
        ids_(graph.n_values) {}

  Outputs run() {
    for (uint32_t i = 0; i < graph_.n_values; i++) read(i);
    for (uint32_t i = 0; i < graph_.n_nodes; i++) compute(*graph_.nodes[i]);
    Outputs outputs;
    if (graph_.logits != HALOGEN_NO_VALUE) outputs.logits = tensors_[graph_.logits];
    if (graph_.hidden != HALOGEN_NO_VALUE) outputs.hidden = tensors_[graph_.hidden];
    return outputs;
  }

 private:
  void read(halogen_value_id id) {
    const halogen_value& value = *graph_.values[id];
    if (value.kind == HALOGEN_VALUE_WEIGHT)
      tensors_[id] = stored_weight(*graph_.weights[value.source], weights_[value.source]);
    if (value.kind != HALOGEN_VALUE_INPUT) return;
    if (value.source == HALOGEN_INPUT_TOKEN_IDS)
      ids_[id].assign(step_.token_ids, step_.token_ids + step_.n_tokens);
    if (value.source == HALOGEN_INPUT_POSITIONS)
      ids_[id].assign(step_.positions, step_.positions + step_.n_tokens);
    if (value.source == HALOGEN_INPUT_ROWS) ids_[id].assign(step_.rows, step_.rows + step_.n_rows);
  }

  // Null for an optional input that is absent.
  const Tensor* optional(const halogen_node& node, uint32_t i) const {
    if (i >= node.n_inputs || node.inputs[i] == HALOGEN_NO_VALUE) return nullptr;
    return &tensors_[node.inputs[i]];
  }
  const Tensor& at(const halogen_node& node, uint32_t i) const { return tensors_[node.inputs[i]]; }
  const std::vector<int32_t>& ids_at(const halogen_node& node, uint32_t i) const {
    return ids_[node.inputs[i]];
  }
  bool quantised(const halogen_node& node) const {
    return halogen_type_find(graph_.values[node.inputs[1]]->type)->block_elements > 1;
  }

  std::vector<size_t> dims_of(halogen_value_id id) const {
    const halogen_value& value = *graph_.values[id];
    std::vector<size_t> dims;
    for (uint32_t d = 0; d < value.n_dims; d++) dims.push_back(static_cast<size_t>(value.dims[d]));
    if (value.dims[0] == HALOGEN_DIM_TOKENS) dims[0] = step_.n_tokens;
    if (value.dims[0] == HALOGEN_DIM_ROWS) dims[0] = step_.n_rows;
    return dims;
  }

  void compute(const halogen_node& node) {
    if (node.op == HALOGEN_OP_MOE_ROUTE) {
      Route route = moe_route(at(node, 0), optional(node, 1), node.attributes.route, precision_);
      ids_[node.outputs[0]] = std::move(route.ids);
      tensors_[node.outputs[1]] = std::move(route.weights);
      return;
    }
    tensors_[node.outputs[0]] = result_of(node);
  }

  Tensor result_of(const halogen_node& node) {
    const halogen_attributes& a = node.attributes;
    switch (node.op) {
      case HALOGEN_OP_EMBED:
        return embed(ids_at(node, 0), at(node, 1), a.embed.scale, precision_);
      case HALOGEN_OP_NORM:
        return norm(a.norm.kind, at(node, 0), optional(node, 1), optional(node, 2), a.norm.epsilon,
                    a.norm.weight_offset, precision_);
      case HALOGEN_OP_LINEAR:
        return linear(at(node, 0), at(node, 1), optional(node, 2), quantised(node), precision_);
      case HALOGEN_OP_ROPE:
        return rope(at(node, 0), ids_at(node, 1), optional(node, 2), a.rope, precision_);
      case HALOGEN_OP_ATTEND:
        return attend(at(node, 0), at(node, 1), at(node, 2), optional(node, 3), a.attend, step_,
                      cache_, precision_);
      case HALOGEN_OP_GLU:
        return glu(at(node, 0), at(node, 1), a.glu.activation, a.glu.alpha, a.glu.limit,
                   precision_);
      case HALOGEN_OP_ACTIVATE:
        return activate(at(node, 0), a.glu.activation, precision_);
      case HALOGEN_OP_ADD:
        return add(at(node, 0), at(node, 1), precision_);
      case HALOGEN_OP_MUL:
        return multiply(at(node, 0), at(node, 1), precision_);
      case HALOGEN_OP_SCALE:
        return scale(at(node, 0), a.scale.factor, precision_);
      case HALOGEN_OP_SOFTCAP:
        return softcap(at(node, 0), a.softcap.cap, precision_);
      case HALOGEN_OP_MOE_LINEAR:
        return moe_linear(at(node, 0), at(node, 1), ids_at(node, 2),
                          static_cast<size_t>(graph_.values[node.inputs[2]]->dims[1]),
                          optional(node, 3), quantised(node), precision_);
      case HALOGEN_OP_MOE_COMBINE:
        return moe_combine(at(node, 0), at(node, 1), precision_);
      case HALOGEN_OP_SELECT_ROWS:
        return select_rows(at(node, 0), ids_at(node, 1));
      case HALOGEN_OP_SPLIT:
        return split(at(node, 0), a.split.offset, dims_of(node.outputs[0]).back());
      case HALOGEN_OP_CONCAT:
        return concat(at(node, 0), at(node, 1));
      default: {  // a view: the same elements in the output's shape
        Tensor view = at(node, 0);
        view.dims = dims_of(node.outputs[0]);
        return view;
      }
    }
  }

  const halogen_graph& graph_;
  std::span<const void* const> weights_;
  const halogen_step& step_;
  KvCache& cache_;
  Precision precision_;
  std::vector<Tensor> tensors_;            // [values]
  std::vector<std::vector<int32_t>> ids_;  // [values]: those of integers
};

}  // namespace

Status knows(const halogen_graph& graph, const halogen_node& node) {
  switch (node.op) {
    case HALOGEN_OP_POOL:
    case HALOGEN_OP_CONV_STATE:
    case HALOGEN_OP_GATED_DELTA:
    case HALOGEN_OP_ALL_REDUCE:
      return fail(HALOGEN_E_UNSUPPORTED,
                  std::string("the reference has no ") + op_name(node.op) + " yet");
    default:
      break;
  }
  if (node.op == HALOGEN_OP_MOE_ROUTE && node.attributes.route.groups != 0)
    return fail(HALOGEN_E_UNSUPPORTED, "the reference has no group-limited routing yet");
  for (uint32_t i = 0; i < node.n_inputs; i++) {
    if (node.inputs[i] == HALOGEN_NO_VALUE) continue;
    const halogen_value& value = *graph.values[node.inputs[i]];
    if (value.kind != HALOGEN_VALUE_WEIGHT || is_known(value.type)) continue;
    const halogen_type_traits* traits = halogen_type_find(value.type);
    return fail(HALOGEN_E_UNSUPPORTED, std::string("the reference has no values of the type ") +
                                           (traits ? traits->name : "?") + " yet");
  }
  return {};
}

Outputs evaluate(const halogen_graph& graph, std::span<const void* const> weights,
                 const halogen_step& step, KvCache& cache, Precision precision) {
  return Evaluation(graph, weights, step, cache, precision).run();
}

}  // namespace halogen::reference
