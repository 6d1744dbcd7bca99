#include "core/model/families/dense_decoder.h"

#include <cmath>

namespace halogen {
namespace {

using Value = ModelBuilder::Value;

// One layer's builder: names its weights and adds its two halves to the residual stream.
class Layer {
 public:
  Layer(ModelBuilder& builder, const Hyperparameters& h, const DenseDecoder& decoder, Value factors,
        uint32_t index)
      : builder_(builder),
        graph_(builder.graph),
        h_(h),
        decoder_(decoder),
        factors_(factors),
        prefix_("layers." + std::to_string(index) + ".") {
    graph_.set_layer(static_cast<int32_t>(index));
  }

  Value attention(Value x) {
    const Value normed = norm(x, "attention_norm.weight", h_.hidden_size);
    Value q = heads(normed, "attention.q", h_.heads, h_.head_dim);
    Value k = heads(normed, "attention.k", h_.kv_heads, h_.head_dim);
    const Value v = heads(normed, "attention.v", h_.kv_heads, h_.value_dim);
    if (decoder_.qk_norm) {
      q = norm(q, "attention.q_norm.weight", h_.head_dim);
      k = norm(k, "attention.k_norm.weight", h_.head_dim);
    }
    halogen_rope_attributes rope = h_.rope;
    if (rope.pairing == 0) rope.pairing = decoder_.pairing;
    q = graph_.rope(q, graph_.positions(), rope, factors_);
    k = graph_.rope(k, graph_.positions(), rope, factors_);

    halogen_attend_attributes attend{};
    attend.causal = 1;
    attend.window = h_.sliding_window;
    attend.scale = 1.0F / std::sqrt(static_cast<float>(h_.head_dim));
    const int64_t width = int64_t{h_.heads} * h_.value_dim;
    const Value mixed = graph_.reshape(graph_.attend(q, k, v, attend), {HALOGEN_DIM_TOKENS, width});
    return graph_.add(project(mixed, "attention.output", h_.hidden_size, width), x);
  }

  Value feed_forward(Value x) {
    const Value normed = norm(x, "feed_forward_norm.weight", h_.hidden_size);
    const Value gate = project(normed, "feed_forward.gate", h_.feed_forward_size, h_.hidden_size);
    const Value up = project(normed, "feed_forward.up", h_.feed_forward_size, h_.hidden_size);
    const Value inner = graph_.glu(gate, up, HALOGEN_SILU);
    return graph_.add(project(inner, "feed_forward.down", h_.hidden_size, h_.feed_forward_size), x);
  }

 private:
  Value norm(Value x, const char* name, int64_t size) {
    return graph_.rms_norm(x, builder_.weight(prefix_ + name, {size}), h_.rms_epsilon);
  }

  Value project(Value x, const std::string& name, int64_t out, int64_t in,
                bool requires_bias = false) {
    const Value weight = builder_.weight(prefix_ + name + ".weight", {out, in});
    const std::string bias = prefix_ + name + ".bias";
    return graph_.linear(
        x, weight,
        requires_bias ? builder_.weight(bias, {out}) : builder_.optional_weight(bias, {out}));
  }

  Value heads(Value x, const std::string& name, uint32_t count, uint32_t dim) {
    const Value flat =
        project(x, name, int64_t{count} * dim, h_.hidden_size, decoder_.requires_qkv_bias);
    return graph_.reshape(flat, {HALOGEN_DIM_TOKENS, count, dim});
  }

  ModelBuilder& builder_;
  GraphBuilder& graph_;
  const Hyperparameters& h_;
  const DenseDecoder& decoder_;
  Value factors_;
  std::string prefix_;
};

}  // namespace

void build_dense_decoder(ModelBuilder& builder, const Hyperparameters& h,
                         const DenseDecoder& decoder) {
  GraphBuilder& graph = builder.graph;
  const Value table = builder.weight("token_embedding.weight", {h.vocabulary_size, h.hidden_size});
  const Value factors = builder.optional_weight("rope.frequency_factors.weight", {h.rope.dims / 2});

  Value x = graph.embed(graph.token_ids(), table);
  for (uint32_t index = 0; index < h.layers; index++) {
    Layer layer(builder, h, decoder, factors, index);
    x = layer.attention(x);
    x = layer.feed_forward(x);
  }
  graph.set_layer(-1);

  // Only the rows that somebody wants go through the output matrix, the largest of the model.
  const Value wanted = graph.select_rows(x, graph.rows());
  const Value hidden =
      graph.rms_norm(wanted, builder.weight("output_norm.weight", {h.hidden_size}), h.rms_epsilon);
  const Value output = builder.optional_weight("output.weight", {h.vocabulary_size, h.hidden_size});
  graph.set_hidden(hidden);
  graph.set_logits(graph.linear(hidden, output == HALOGEN_NO_VALUE ? table : output));
}

}  // namespace halogen
