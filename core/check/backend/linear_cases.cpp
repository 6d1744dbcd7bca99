// Embedding and matrix products, for every weight type and many shapes.
#include "core/check/backend/operator_cases.h"
#include "core/check/reference/dequantise.h"

namespace halogen::check {
namespace {

struct Shape {
  uint32_t rows, blocks, tokens;  // rows of the weight, blocks in one
  bool quick;
};

// One, two, odd numbers and more than any tile of rows, blocks and tokens.
constexpr Shape kShapes[] = {{1, 1, 1, true},   {2, 3, 1, false},    {7, 1, 3, true},
                             {33, 2, 17, true}, {64, 5, 2, false},   {130, 3, 5, false},
                             {67, 1, 65, true}, {257, 2, 33, false}, {16, 16, 64, false}};

// Plain types have no blocks, so rows of any length.
int64_t columns_of(const halogen_type_traits& type, const Shape& shape) {
  return type.block_elements > 1 ? int64_t{type.block_elements} * shape.blocks
                                 : 37 * shape.blocks + 1;
}

struct Linear {
  halogen_type type;
  Shape shape;
  halogen_type bias = HALOGEN_F32;
  bool has_bias = false;

  Outcome run(OperatorCase& c) const {
    const int64_t in = columns_of(*halogen_type_find(type), shape);
    TestGraph& graph = c.graph(shape.rows);
    const auto x = graph.activations(in);
    const auto matrix = graph.weight(type, {shape.rows, in});
    const auto offset = has_bias ? graph.weight(bias, {shape.rows}, 1.0F) : HALOGEN_NO_VALUE;
    graph.output(graph.builder().linear(x, matrix, offset), shape.rows);
    return c.compare_tokens(shape.tokens);
  }
};

std::string shape_name(int64_t rows, int64_t columns, uint32_t tokens) {
  return std::to_string(rows) + "x" + std::to_string(columns) + "x" + std::to_string(tokens);
}

void add_linear(const halogen_type_traits& type, CaseList& cases) {
  const std::string group = std::string("linear/") + type.name + "/";
  for (const Shape& shape : kShapes) {
    cases.add(group + shape_name(shape.rows, columns_of(type, shape), shape.tokens), shape.quick,
              [linear = Linear{type.type, shape}](OperatorCase& c) { return linear.run(c); });
  }
  cases.add(group + "bias", false, [type](OperatorCase& c) {
    return Linear{type.type, kShapes[3], HALOGEN_F32, true}.run(c);
  });
  // The output matrix works on the wanted rows alone.
  cases.add(group + "rows", false, [type](OperatorCase& c) {
    const int64_t in = columns_of(type, kShapes[2]);
    TestGraph& graph = c.graph(8, 24);
    const auto x = graph.builder().select_rows(graph.activations(in), graph.builder().rows());
    graph.builder().set_logits(graph.builder().linear(x, graph.weight(type.type, {24, in})));
    StepArrays step = c.tokens(9);
    step.rows = {8, 0, 3};
    return c.compare({step});
  });
}

void add_embed(const halogen_type_traits& type, CaseList& cases) {
  for (const float scale : {1.0F, 3.5F}) {
    const std::string name =
        std::string("embed/") + type.name + (scale == 1 ? "/plain" : "/scaled");
    cases.add(name, scale == 1, [type, scale](OperatorCase& c) {
      const int64_t width = columns_of(type, kShapes[1]);
      TestGraph& graph = c.graph(static_cast<uint32_t>(width));
      const auto table = graph.weight(type.type, {graph.vocabulary(), width});
      graph.output(graph.builder().embed(graph.builder().token_ids(), table, scale), width);
      return c.compare_tokens(19);
    });
  }
}

}  // namespace

void add_linear_cases(CaseList& cases) {
  for (const halogen_type id : reference::known_types()) {
    const halogen_type_traits& type = *halogen_type_find(id);
    add_embed(type, cases);
    add_linear(type, cases);
  }
  for (const auto& [type, name] :
       {std::pair(HALOGEN_F16, "F16"), std::pair(HALOGEN_BF16, "BF16")}) {
    cases.add(std::string("linear/bias-of/") + name, true, [type](OperatorCase& c) {
      return Linear{HALOGEN_Q8_0, kShapes[3], type, true}.run(c);
    });
  }
  // Several products of one input, and sums of them, are what backends fuse.
  cases.add("linear/fused/residual", true, [](OperatorCase& c) {
    TestGraph& graph = c.graph(64);
    const auto x = graph.activations(64), y = graph.activations(64);
    const auto product = graph.builder().linear(x, graph.weight(HALOGEN_Q8_0, {64, 64}));
    graph.output(graph.builder().add(y, product), 64);
    return c.compare_tokens(7);
  });
  cases.add("linear/fused/own-input-as-residual", true, [](OperatorCase& c) {
    TestGraph& graph = c.graph(64);
    const auto x = graph.activations(64);
    const auto first = graph.builder().linear(x, graph.weight(HALOGEN_F32, {64, 64}));
    const auto second = graph.builder().linear(x, graph.weight(HALOGEN_F32, {64, 64}));
    graph.output(graph.builder().add(graph.builder().add(first, second), x), 64);
    return c.compare_tokens(7);
  });
  cases.add("linear/fused/product-read-twice", true, [](OperatorCase& c) {
    TestGraph& graph = c.graph(64);
    const auto x = graph.activations(64);
    const auto product = graph.builder().linear(x, graph.weight(HALOGEN_F32, {64, 64}));
    graph.output(graph.builder().mul(graph.builder().add(x, product), product), 64);
    return c.compare_tokens(7);
  });
  cases.add("linear/fused/mixed-types-of-one-input", true, [](OperatorCase& c) {
    TestGraph& graph = c.graph(96);
    const auto x = graph.activations(256);
    const auto a = graph.builder().linear(x, graph.weight(HALOGEN_Q4_K, {32, 256}));
    const auto b = graph.builder().linear(x, graph.weight(HALOGEN_Q8_0, {64, 256}));
    graph.output(graph.builder().concat(a, b), 96);
    return c.compare_tokens(7);
  });
  cases.add("linear/fused/part-of-a-row", true, [](OperatorCase& c) {
    TestGraph& graph = c.graph(48);
    const auto x = graph.builder().split(graph.activations(192), 64, 64);
    graph.output(graph.builder().linear(x, graph.weight(HALOGEN_Q8_0, {48, 64})), 48);
    return c.compare_tokens(7);
  });
}

}  // namespace halogen::check
