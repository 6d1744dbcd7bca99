// The operator graph of a model, as the core builds it: an owner of the C structs of
// halogen/graph.h and a builder that infers shapes and refuses what does not fit together.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "halogen/graph.h"

#include "core/base/result.h"

namespace halogen {

// Owns the structs that `table()` points to. Movable; the addresses stay.
class Graph {
 public:
  const halogen_graph& table() const { return table_; }

 private:
  friend class GraphBuilder;

  struct Named;
  std::vector<std::unique_ptr<halogen_value>> values_;
  std::vector<std::unique_ptr<halogen_node>> nodes_;
  std::vector<std::unique_ptr<halogen_weight>> weights_;
  std::vector<std::unique_ptr<halogen_kv_layer>> kv_layers_;
  std::vector<std::unique_ptr<halogen_state_layer>> state_layers_;
  std::vector<std::unique_ptr<std::string>> names_;
  std::vector<const halogen_value*> value_pointers_;
  std::vector<const halogen_node*> node_pointers_;
  std::vector<const halogen_weight*> weight_pointers_;
  std::vector<const halogen_kv_layer*> kv_layer_pointers_;
  std::vector<const halogen_state_layer*> state_layer_pointers_;
  halogen_graph table_{};
};

// Builds a graph node by node. The first thing that does not fit is remembered and comes out of
// finish(); the calls after it do nothing, so that a family reads as a list of operators without a
// check on every line.
class GraphBuilder {
 public:
  using Value = halogen_value_id;

  explicit GraphBuilder(uint32_t vocabulary_size, uint32_t hidden_size);

  // The layer that the following nodes belong to (-1: none), for names and progress.
  void set_layer(int32_t layer) { layer_ = layer; }

  Value token_ids();
  Value positions();
  Value rows();

  // A weight with the shape the model needs; its place in the table is the order of the calls.
  Value weight(const std::string& name, halogen_type type, const std::vector<int64_t>& dims);

  Value embed(Value ids, Value table, float scale = 1.0F);
  Value rms_norm(Value x, Value weight, float epsilon);
  // Any norm; weight and bias may be HALOGEN_NO_VALUE.
  Value norm(halogen_norm_kind kind, Value x, Value weight, Value bias, float epsilon,
             float weight_offset = 0.0F);
  Value linear(Value x, Value weight, Value bias = HALOGEN_NO_VALUE);
  Value rope(Value x, Value positions, const halogen_rope_attributes& attributes,
             Value factors = HALOGEN_NO_VALUE);
  // Adds a KV layer and the attention over it; q [tokens, heads, d], k and v [tokens, kv_heads, d].
  Value attend(Value q, Value k, Value v, halogen_attend_attributes attributes,
               Value sinks = HALOGEN_NO_VALUE);
  Value glu(Value gate, Value up, halogen_activation activation, float alpha = 0.0F,
            float limit = 0.0F);
  Value activate(Value x, halogen_activation activation);
  Value add(Value a, Value b);
  Value mul(Value a, Value b);
  Value scale(Value x, float factor);
  Value softcap(Value x, float cap);
  struct Route {
    Value ids, weights;  // I32 and F32, [tokens, used]
  };
  Route moe_route(Value logits, const halogen_route_attributes& attributes,
                  Value correction = HALOGEN_NO_VALUE);
  // x [tokens, in] or [tokens, used, in]; weight [experts, out, in]
  Value moe_linear(Value x, Value weight, Value ids, Value bias = HALOGEN_NO_VALUE);
  Value moe_combine(Value x, Value weights);
  Value select_rows(Value x, Value rows);
  Value reshape(Value x, const std::vector<int64_t>& dims);
  Value split(Value x, uint64_t offset, uint64_t length);
  Value concat(Value a, Value b);

  void set_logits(Value value) { graph_.table_.logits = value; }
  void set_hidden(Value value) { graph_.table_.hidden = value; }

  // The whole graph, or the first error.
  Result<Graph> finish();

 private:
  Value input(halogen_step_input input, const std::vector<int64_t>& dims);
  Value add_value(halogen_value_kind kind, uint32_t source, halogen_type type,
                  const std::vector<int64_t>& dims, const std::string& name);
  Value add_node(halogen_op op, const std::vector<Value>& inputs, const std::vector<int64_t>& dims,
                 const halogen_attributes& attributes = {});
  const halogen_value* at(Value value) const;
  std::vector<int64_t> dims_of(Value value) const;
  Value refuse(const std::string& message);
  const char* keep(const std::string& text);

  Graph graph_;
  int32_t layer_ = -1;
  Value inputs_[5] = {HALOGEN_NO_VALUE, HALOGEN_NO_VALUE, HALOGEN_NO_VALUE, HALOGEN_NO_VALUE,
                      HALOGEN_NO_VALUE};
  std::string error_;
};

// Checks a table built by anyone: ids in range, nodes after what they read, weights' byte counts.
Status validate(const halogen_graph& graph);

// The graph as text, a line a node: "%12 = linear(%11, layers.0.attention.q.weight) [T, 512]".
std::string print(const halogen_graph& graph);

// "linear", "rope", …; never null.
const char* op_name(halogen_op op);

// "[T, 8, 64]"
std::string print_dims(const int64_t* dims, uint32_t n_dims);

}  // namespace halogen
