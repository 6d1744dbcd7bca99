#include <algorithm>

#include "core/graph/graph.h"

namespace halogen {
namespace {

using Dims = std::vector<int64_t>;

std::string show(const Dims& dims) {
  return print_dims(dims.data(), static_cast<uint32_t>(dims.size()));
}

// Elements of a token's (or row's) part: the product of all dimensions but the first.
int64_t inner_elements(const Dims& dims) {
  int64_t product = 1;
  for (size_t i = 1; i < dims.size(); i++) product *= dims[i];
  return product;
}

}  // namespace

GraphBuilder::GraphBuilder(uint32_t vocabulary_size, uint32_t hidden_size) {
  graph_.table_.struct_size = sizeof(halogen_graph);
  graph_.table_.vocabulary_size = vocabulary_size;
  graph_.table_.hidden_size = hidden_size;
  graph_.table_.logits = HALOGEN_NO_VALUE;
  graph_.table_.hidden = HALOGEN_NO_VALUE;
}

const char* GraphBuilder::keep(const std::string& text) {
  graph_.names_.push_back(std::make_unique<std::string>(text));
  return graph_.names_.back()->c_str();
}

GraphBuilder::Value GraphBuilder::refuse(const std::string& message) {
  if (error_.empty()) {
    error_ = layer_ >= 0 ? "layer " + std::to_string(layer_) + ": " + message : message;
  }
  return HALOGEN_NO_VALUE;
}

const halogen_value* GraphBuilder::at(Value value) const {
  return value < graph_.values_.size() ? graph_.values_[value].get() : nullptr;
}

Dims GraphBuilder::dims_of(Value value) const {
  const halogen_value* v = at(value);
  return v ? Dims(v->dims, v->dims + v->n_dims) : Dims{};
}

GraphBuilder::Value GraphBuilder::add_value(halogen_value_kind kind, uint32_t source,
                                            halogen_type type, const Dims& dims,
                                            const std::string& name) {
  if (dims.empty() || dims.size() > HALOGEN_MAX_DIMS) {
    return refuse("'" + name + "' has " + std::to_string(dims.size()) + " dimensions");
  }
  auto value = std::make_unique<halogen_value>();
  *value = {};
  value->struct_size = sizeof(halogen_value);
  value->kind = kind;
  value->source = source;
  value->type = type;
  value->n_dims = static_cast<uint32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), value->dims);
  value->name = keep(name);
  graph_.values_.push_back(std::move(value));
  return static_cast<Value>(graph_.values_.size() - 1);
}

GraphBuilder::Value GraphBuilder::input(halogen_step_input kind, const Dims& dims) {
  Value& known = inputs_[kind];
  if (known == HALOGEN_NO_VALUE) {
    static const char* const names[] = {"", "token_ids", "positions", "rows", "embeddings"};
    known = add_value(HALOGEN_VALUE_INPUT, kind, HALOGEN_I32, dims, names[kind]);
  }
  return known;
}

GraphBuilder::Value GraphBuilder::token_ids() {
  return input(HALOGEN_INPUT_TOKEN_IDS, {HALOGEN_DIM_TOKENS});
}
GraphBuilder::Value GraphBuilder::positions() {
  return input(HALOGEN_INPUT_POSITIONS, {HALOGEN_DIM_TOKENS});
}
GraphBuilder::Value GraphBuilder::rows() {
  return input(HALOGEN_INPUT_ROWS, {HALOGEN_DIM_ROWS});
}

GraphBuilder::Value GraphBuilder::weight(const std::string& name, halogen_type type,
                                         const Dims& dims) {
  if (!error_.empty()) return HALOGEN_NO_VALUE;
  const uint64_t row_bytes =
      dims.empty() ? 0 : halogen_row_bytes(type, static_cast<uint64_t>(dims.back()));
  if (row_bytes == 0 || dims.size() > HALOGEN_MAX_DIMS) {
    return refuse("weight '" + name + "' " + show(dims) + " cannot be stored in its type");
  }
  uint64_t rows = 1;
  for (size_t i = 0; i + 1 < dims.size(); i++) rows *= static_cast<uint64_t>(dims[i]);

  auto weight = std::make_unique<halogen_weight>();
  *weight = {};
  weight->struct_size = sizeof(halogen_weight);
  weight->type = type;
  weight->n_dims = static_cast<uint32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), weight->dims);
  weight->bytes = rows * row_bytes;
  weight->name = keep(name);
  graph_.weights_.push_back(std::move(weight));
  return add_value(HALOGEN_VALUE_WEIGHT, static_cast<uint32_t>(graph_.weights_.size() - 1), type,
                   dims, name);
}

GraphBuilder::Value GraphBuilder::add_node(halogen_op op, const std::vector<Value>& inputs,
                                           const Dims& dims, const halogen_attributes& attributes) {
  if (!error_.empty()) return HALOGEN_NO_VALUE;
  const auto index = static_cast<uint32_t>(graph_.nodes_.size());
  const Value output = add_value(HALOGEN_VALUE_RESULT, index, HALOGEN_F32, dims, "");
  auto node = std::make_unique<halogen_node>();
  *node = {};
  node->struct_size = sizeof(halogen_node);
  node->op = op;
  node->layer = layer_;
  node->n_inputs = static_cast<uint32_t>(inputs.size());
  std::copy(inputs.begin(), inputs.end(), node->inputs);
  node->n_outputs = 1;
  node->outputs[0] = output;
  node->attributes = attributes;
  graph_.nodes_.push_back(std::move(node));
  return output;
}

GraphBuilder::Value GraphBuilder::embed(Value ids, Value table, float scale) {
  const Dims rows = dims_of(ids), shape = dims_of(table);
  if (!error_.empty()) return HALOGEN_NO_VALUE;
  if (rows.size() != 1 || shape.size() != 2)
    return refuse("embed needs ids and a table of two dimensions");
  halogen_attributes attributes{};
  attributes.embed.scale = scale;
  return add_node(HALOGEN_OP_EMBED, {ids, table}, {rows[0], shape[1]}, attributes);
}

GraphBuilder::Value GraphBuilder::rms_norm(Value x, Value weight, float epsilon) {
  return norm(HALOGEN_NORM_RMS, x, weight, HALOGEN_NO_VALUE, epsilon);
}

GraphBuilder::Value GraphBuilder::norm(halogen_norm_kind kind, Value x, Value weight, Value bias,
                                       float epsilon, float weight_offset) {
  const Dims shape = dims_of(x);
  if (!error_.empty()) return HALOGEN_NO_VALUE;
  for (const auto& [vector, name] : {std::pair(weight, "weight"), std::pair(bias, "bias")}) {
    const Dims gain = dims_of(vector);
    if (shape.empty() || (vector != HALOGEN_NO_VALUE && gain != Dims{shape.back()})) {
      return refuse(std::string("a norm's ") + name + " is " + show(gain) + " where its input is " +
                    show(shape));
    }
  }
  halogen_attributes attributes{};
  attributes.norm = {kind, epsilon, weight_offset};
  return add_node(HALOGEN_OP_NORM, {x, weight, bias}, shape, attributes);
}

GraphBuilder::Value GraphBuilder::linear(Value x, Value weight, Value bias) {
  Dims shape = dims_of(x);
  const Dims matrix = dims_of(weight), offset = dims_of(bias);
  if (!error_.empty()) return HALOGEN_NO_VALUE;
  if (shape.empty() || matrix.size() != 2 || matrix[1] != shape.back()) {
    return refuse("a linear operator's weight is " + show(matrix) + " where its input is " +
                  show(shape));
  }
  if (bias != HALOGEN_NO_VALUE && offset != Dims{matrix[0]}) {
    return refuse("a linear operator's bias is " + show(offset) + " where its weight is " +
                  show(matrix));
  }
  shape.back() = matrix[0];
  return add_node(HALOGEN_OP_LINEAR, {x, weight, bias}, shape);
}

GraphBuilder::Value GraphBuilder::rope(Value x, Value positions,
                                       const halogen_rope_attributes& rope, Value factors) {
  const Dims shape = dims_of(x), divisors = dims_of(factors);
  if (!error_.empty()) return HALOGEN_NO_VALUE;
  if (shape.size() != 3 || rope.dims % 2 != 0 || rope.dims == 0 || rope.dims > shape[2]) {
    return refuse("rope over " + std::to_string(rope.dims) + " elements does not fit heads of " +
                  show(shape));
  }
  if (factors != HALOGEN_NO_VALUE && divisors != Dims{rope.dims / 2}) {
    return refuse("rope factors are " + show(divisors) + " where " + std::to_string(rope.dims / 2) +
                  " pairs are rotated");
  }
  halogen_attributes attributes{};
  attributes.rope = rope;
  return add_node(HALOGEN_OP_ROPE, {x, positions, factors}, shape, attributes);
}

GraphBuilder::Value GraphBuilder::attend(Value q, Value k, Value v,
                                         halogen_attend_attributes attend, Value sinks) {
  const Dims query = dims_of(q), key = dims_of(k), value = dims_of(v), sink = dims_of(sinks);
  if (!error_.empty()) return HALOGEN_NO_VALUE;
  if (query.size() != 3 || key.size() != 3 || value.size() != 3 || query[2] != key[2] ||
      key[1] != value[1] || key[1] == 0 || query[1] % key[1] != 0) {
    return refuse("attention over q " + show(query) + ", k " + show(key) + ", v " + show(value));
  }
  if (sinks != HALOGEN_NO_VALUE && sink != Dims{query[1]}) {
    return refuse("attention sinks are " + show(sink) + " where q is " + show(query));
  }
  auto layer = std::make_unique<halogen_kv_layer>();
  *layer = {};
  layer->struct_size = sizeof(halogen_kv_layer);
  layer->kv_heads = static_cast<uint32_t>(key[1]);
  layer->key_dim = static_cast<uint32_t>(key[2]);
  layer->value_dim = static_cast<uint32_t>(value[2]);
  layer->window = attend.window;
  attend.kv_layer = static_cast<uint32_t>(graph_.kv_layers_.size());
  graph_.kv_layers_.push_back(std::move(layer));

  halogen_attributes attributes{};
  attributes.attend = attend;
  return add_node(HALOGEN_OP_ATTEND, {q, k, v, sinks}, {query[0], query[1], value[2]}, attributes);
}

GraphBuilder::Value GraphBuilder::glu(Value gate, Value up, halogen_activation activation,
                                      float alpha, float limit) {
  const Dims shape = dims_of(gate);
  if (!error_.empty()) return HALOGEN_NO_VALUE;
  if (shape != dims_of(up)) return refuse("glu of " + show(shape) + " and " + show(dims_of(up)));
  halogen_attributes attributes{};
  attributes.glu = {activation, alpha, limit};
  return add_node(HALOGEN_OP_GLU, {gate, up}, shape, attributes);
}

GraphBuilder::Value GraphBuilder::activate(Value x, halogen_activation activation) {
  halogen_attributes attributes{};
  attributes.glu = {activation, 0.0F, 0.0F};
  return add_node(HALOGEN_OP_ACTIVATE, {x}, dims_of(x), attributes);
}

GraphBuilder::Value GraphBuilder::add(Value a, Value b) {
  const Dims shape = dims_of(a), other = dims_of(b);
  if (!error_.empty()) return HALOGEN_NO_VALUE;
  if (other.size() > shape.size() || !std::equal(other.rbegin(), other.rend(), shape.rbegin())) {
    return refuse("add of " + show(shape) + " and " + show(other));
  }
  return add_node(HALOGEN_OP_ADD, {a, b}, shape);
}

GraphBuilder::Value GraphBuilder::mul(Value a, Value b) {
  const Dims shape = dims_of(a), other = dims_of(b);
  if (!error_.empty()) return HALOGEN_NO_VALUE;
  if (other.size() > shape.size() || !std::equal(other.rbegin(), other.rend(), shape.rbegin())) {
    return refuse("mul of " + show(shape) + " and " + show(other));
  }
  return add_node(HALOGEN_OP_MUL, {a, b}, shape);
}

GraphBuilder::Value GraphBuilder::scale(Value x, float factor) {
  halogen_attributes attributes{};
  attributes.scale.factor = factor;
  return add_node(HALOGEN_OP_SCALE, {x}, dims_of(x), attributes);
}

GraphBuilder::Value GraphBuilder::softcap(Value x, float cap) {
  halogen_attributes attributes{};
  attributes.softcap.cap = cap;
  return add_node(HALOGEN_OP_SOFTCAP, {x}, dims_of(x), attributes);
}

GraphBuilder::Route GraphBuilder::moe_route(Value logits, const halogen_route_attributes& route,
                                            Value correction) {
  const Dims shape = dims_of(logits), offset = dims_of(correction);
  Route result{HALOGEN_NO_VALUE, HALOGEN_NO_VALUE};
  if (!error_.empty()) return result;
  if (shape.size() != 2 || shape[1] != route.experts || route.used == 0 ||
      route.used > route.experts ||
      (correction != HALOGEN_NO_VALUE && offset != Dims{route.experts})) {
    refuse("a route of " + show(shape) + " to " + std::to_string(route.used) + " of " +
           std::to_string(route.experts) + " experts");
    return result;
  }
  halogen_attributes attributes{};
  attributes.route = route;
  const Dims chosen{shape[0], route.used};
  result.ids = add_node(HALOGEN_OP_MOE_ROUTE, {logits, correction}, chosen, attributes);
  graph_.values_[result.ids]->type = HALOGEN_I32;
  halogen_node& node = *graph_.nodes_.back();
  result.weights =
      add_value(HALOGEN_VALUE_RESULT, graph_.values_[result.ids]->source, HALOGEN_F32, chosen, "");
  node.outputs[node.n_outputs++] = result.weights;
  return result;
}

GraphBuilder::Value GraphBuilder::moe_linear(Value x, Value weight, Value ids, Value bias) {
  const Dims shape = dims_of(x), matrices = dims_of(weight), chosen = dims_of(ids),
             offset = dims_of(bias);
  if (!error_.empty()) return HALOGEN_NO_VALUE;
  if ((shape.size() != 2 && shape.size() != 3) || matrices.size() != 3 || chosen.size() != 2 ||
      matrices[2] != shape.back() || (shape.size() == 3 && shape[1] != chosen[1]) ||
      (bias != HALOGEN_NO_VALUE && offset != Dims{matrices[0], matrices[1]})) {
    return refuse("experts " + show(matrices) + " over " + show(shape) + " chosen by " +
                  show(chosen));
  }
  return add_node(HALOGEN_OP_MOE_LINEAR, {x, weight, ids, bias},
                  {shape[0], chosen[1], matrices[1]});
}

GraphBuilder::Value GraphBuilder::moe_combine(Value x, Value weights) {
  const Dims shape = dims_of(x), chosen = dims_of(weights);
  if (!error_.empty()) return HALOGEN_NO_VALUE;
  if (shape.size() != 3 || chosen.size() != 2 || shape[1] != chosen[1]) {
    return refuse("moe_combine of " + show(shape) + " with weights " + show(chosen));
  }
  return add_node(HALOGEN_OP_MOE_COMBINE, {x, weights}, {shape[0], shape[2]});
}

GraphBuilder::Value GraphBuilder::select_rows(Value x, Value rows) {
  Dims shape = dims_of(x);
  if (!error_.empty()) return HALOGEN_NO_VALUE;
  if (shape.size() != 2) return refuse("select_rows of " + show(shape));
  shape[0] = HALOGEN_DIM_ROWS;
  return add_node(HALOGEN_OP_SELECT_ROWS, {x, rows}, shape);
}

GraphBuilder::Value GraphBuilder::reshape(Value x, const Dims& dims) {
  const Dims shape = dims_of(x);
  if (!error_.empty()) return HALOGEN_NO_VALUE;
  if (shape.empty() || dims.empty() || dims[0] != shape[0] ||
      inner_elements(dims) != inner_elements(shape)) {
    return refuse("reshape of " + show(shape) + " to " + show(dims));
  }
  return add_node(HALOGEN_OP_RESHAPE, {x}, dims);
}

GraphBuilder::Value GraphBuilder::split(Value x, uint64_t offset, uint64_t length) {
  Dims shape = dims_of(x);
  if (!error_.empty()) return HALOGEN_NO_VALUE;
  const uint64_t width =
      shape.empty() || shape.back() < 0 ? 0 : static_cast<uint64_t>(shape.back());
  if (length == 0 || length > width || offset > width - length) {
    return refuse("split of " + show(shape) + " from " + std::to_string(offset) + ", " +
                  std::to_string(length) + " long");
  }
  shape.back() = static_cast<int64_t>(length);
  halogen_attributes attributes{};
  attributes.split.offset = offset;
  return add_node(HALOGEN_OP_SPLIT, {x}, shape, attributes);
}

GraphBuilder::Value GraphBuilder::concat(Value a, Value b) {
  Dims shape = dims_of(a);
  const Dims other = dims_of(b);
  if (!error_.empty()) return HALOGEN_NO_VALUE;
  if (shape.empty() || shape.size() != other.size() ||
      !std::equal(shape.begin(), shape.end() - 1, other.begin())) {
    return refuse("concat of " + show(shape) + " and " + show(other));
  }
  shape.back() += other.back();
  return add_node(HALOGEN_OP_CONCAT, {a, b}, shape);
}

Result<Graph> GraphBuilder::finish() {
  if (!error_.empty()) return fail(HALOGEN_E_INVALID, error_);
  const auto point = [](const auto& owners, auto& pointers, uint32_t& count) {
    pointers.clear();
    for (const auto& owner : owners) pointers.push_back(owner.get());
    count = static_cast<uint32_t>(pointers.size());
    return pointers.data();
  };
  halogen_graph& table = graph_.table_;
  table.values = point(graph_.values_, graph_.value_pointers_, table.n_values);
  table.nodes = point(graph_.nodes_, graph_.node_pointers_, table.n_nodes);
  table.weights = point(graph_.weights_, graph_.weight_pointers_, table.n_weights);
  table.kv_layers = point(graph_.kv_layers_, graph_.kv_layer_pointers_, table.n_kv_layers);
  table.state_layers =
      point(graph_.state_layers_, graph_.state_layer_pointers_, table.n_state_layers);
  if (auto valid = validate(table); !valid) return valid.error();
  return std::move(graph_);
}

}  // namespace halogen
