// Norms, activations, sums and products, views: what works on every row for itself.
#include <array>

#include "core/check/backend/operator_cases.h"

namespace halogen::check {
namespace {

using Value = TestGraph::Value;

struct Norm {
  halogen_norm_kind kind;
  const char* name;
};
constexpr Norm kNorms[] = {
    {HALOGEN_NORM_RMS, "rms"}, {HALOGEN_NORM_LAYER, "layer"}, {HALOGEN_NORM_L2, "l2"}};

struct Vector {
  halogen_type type;
  const char* name;
};
constexpr Vector kVectors[] = {{HALOGEN_F32, "F32"}, {HALOGEN_F16, "F16"}, {HALOGEN_BF16, "BF16"}};

void add_norms(CaseList& cases) {
  for (const Norm& norm : kNorms) {
    const std::string group = std::string("norm/") + norm.name + "/";
    for (const int64_t n : {1, 7, 64, 257, 2048}) {
      cases.add(
          group + "width-" + std::to_string(n), n == 7 || n == 257, [norm, n](OperatorCase& c) {
            TestGraph& graph = c.graph(static_cast<uint32_t>(n));
            const Value x = graph.activations(n, 3.0F);
            const Value weight = graph.weight(HALOGEN_F32, {n}, 1.0F);
            graph.output(graph.builder().norm(norm.kind, x, weight, HALOGEN_NO_VALUE, 1e-5F), n);
            return c.compare_tokens(5);
          });
    }
    for (const Vector& vector : kVectors) {
      cases.add(group + "weight-and-bias-" + vector.name, false, [norm, vector](OperatorCase& c) {
        TestGraph& graph = c.graph(96);
        const Value x = graph.activations(96);
        const Value weight = graph.weight(vector.type, {96}, 1.0F);
        // Only layer norms have a bias in any model.
        const Value bias = norm.kind == HALOGEN_NORM_LAYER ? graph.weight(vector.type, {96}, 1.0F)
                                                           : HALOGEN_NO_VALUE;
        graph.output(graph.builder().norm(norm.kind, x, weight, bias, 1e-6F), 96);
        return c.compare_tokens(3);
      });
    }
    cases.add(group + "plain", true, [norm](OperatorCase& c) {
      TestGraph& graph = c.graph(80);
      const Value x = graph.activations(80);
      graph.output(graph.builder().norm(norm.kind, x, HALOGEN_NO_VALUE, HALOGEN_NO_VALUE, 1e-5F),
                   80);
      return c.compare_tokens(3);
    });
    cases.add(group + "weight-offset", false, [norm](OperatorCase& c) {
      TestGraph& graph = c.graph(80);
      const Value x = graph.activations(80), weight = graph.weight(HALOGEN_F32, {80}, 0.3F);
      graph.output(graph.builder().norm(norm.kind, x, weight, HALOGEN_NO_VALUE, 1e-5F, 1.0F), 80);
      return c.compare_tokens(3);
    });
    cases.add(group + "each-head", true, [norm](OperatorCase& c) {
      TestGraph& graph = c.graph(6 * 40);
      const Value x = graph.heads(6, 40), weight = graph.weight(HALOGEN_F32, {40}, 1.0F);
      graph.output(graph.builder().norm(norm.kind, x, weight, HALOGEN_NO_VALUE, 1e-5F), 6 * 40);
      return c.compare_tokens(3);
    });
    // Where epsilon counts, and where squares are large.
    for (const auto& [spread, name] : {std::pair(1e-4F, "small"), std::pair(1e4F, "large")}) {
      cases.add(group + name, false, [norm, spread](OperatorCase& c) {
        TestGraph& graph = c.graph(64);
        const Value x = graph.activations(64, spread);
        const Value weight = graph.weight(HALOGEN_F32, {64}, 1.0F);
        graph.output(graph.builder().norm(norm.kind, x, weight, HALOGEN_NO_VALUE, 1e-5F), 64);
        return c.compare_tokens(3);
      });
    }
  }
}

struct Activation {
  halogen_activation activation;
  const char* name;
};
constexpr Activation kActivations[] = {
    {HALOGEN_SILU, "silu"},         {HALOGEN_GELU_TANH, "gelu_tanh"},
    {HALOGEN_GELU_ERF, "gelu_erf"}, {HALOGEN_RELU, "relu"},
    {HALOGEN_SIGMOID, "sigmoid"},   {HALOGEN_SWIGLU_CLAMPED, "swiglu_clamped"}};

void add_activations(CaseList& cases) {
  for (const Activation& a : kActivations) {
    const bool clamped = a.activation == HALOGEN_SWIGLU_CLAMPED;
    for (const int64_t n : {1, 67, 512}) {
      const std::string width = "width-" + std::to_string(n);
      cases.add(std::string("glu/") + a.name + "/" + width, n == 67,
                [a, n, clamped](OperatorCase& c) {
                  TestGraph& graph = c.graph(static_cast<uint32_t>(n));
                  const Value gate = graph.activations(n, 4.0F), up = graph.activations(n, 4.0F);
                  graph.output(graph.builder().glu(gate, up, a.activation, clamped ? 1.702F : 0,
                                                   clamped ? 7.0F : 0),
                               n);
                  return c.compare_tokens(9);
                });
      if (clamped) continue;  // takes two inputs
      cases.add(std::string("activate/") + a.name + "/" + width, n == 67, [a, n](OperatorCase& c) {
        TestGraph& graph = c.graph(static_cast<uint32_t>(n));
        graph.output(graph.builder().activate(graph.activations(n, 6.0F), a.activation), n);
        return c.compare_tokens(9);
      });
    }
    // Both halves in one product, as some models have them.
    cases.add(std::string("glu/") + a.name + "/halves-of-one-value", false,
              [a, clamped](OperatorCase& c) {
                TestGraph& graph = c.graph(64);
                const Value both = graph.activations(128, 3.0F);
                const Value gate = graph.builder().split(both, 0, 64);
                const Value up = graph.builder().split(both, 64, 64);
                graph.output(graph.builder().glu(gate, up, a.activation, clamped ? 1.702F : 0,
                                                 clamped ? 7.0F : 0),
                             64);
                return c.compare_tokens(5);
              });
  }
}

using Binary = Value (GraphBuilder::*)(Value, Value);

void add_sums_and_products(CaseList& cases) {
  for (const auto& [method, name] : {std::pair<Binary, const char*>(&GraphBuilder::add, "add"),
                                     std::pair<Binary, const char*>(&GraphBuilder::mul, "mul")}) {
    const std::string group = std::string(name) + "/";
    for (const int64_t n : {1, 33, 1000}) {
      cases.add(group + "alike-" + std::to_string(n), n == 33, [method, n](OperatorCase& c) {
        TestGraph& graph = c.graph(static_cast<uint32_t>(n));
        const Value a = graph.activations(n), b = graph.activations(n);
        graph.output((graph.builder().*method)(a, b), n);
        return c.compare_tokens(5);
      });
    }
    cases.add(group + "with-itself", false, [method](OperatorCase& c) {
      TestGraph& graph = c.graph(48);
      const Value a = graph.activations(48);
      graph.output((graph.builder().*method)(a, a), 48);
      return c.compare_tokens(5);
    });
    for (const Vector& vector : kVectors) {
      cases.add(group + "vector-" + vector.name, true, [method, vector](OperatorCase& c) {
        TestGraph& graph = c.graph(77);
        const Value a = graph.activations(77), b = graph.weight(vector.type, {77}, 1.0F);
        graph.output((graph.builder().*method)(a, b), 77);
        return c.compare_tokens(5);
      });
    }
    cases.add(group + "vector-for-each-head", true, [method](OperatorCase& c) {
      TestGraph& graph = c.graph(5 * 24);
      const Value a = graph.heads(5, 24), b = graph.weight(HALOGEN_F32, {24}, 1.0F);
      graph.output((graph.builder().*method)(a, b), 5 * 24);
      return c.compare_tokens(5);
    });
    cases.add(group + "matrix-for-each-token", false, [method](OperatorCase& c) {
      TestGraph& graph = c.graph(5 * 24);
      const Value a = graph.heads(5, 24), b = graph.weight(HALOGEN_F32, {5, 24}, 1.0F);
      graph.output((graph.builder().*method)(a, b), 5 * 24);
      return c.compare_tokens(5);
    });
    cases.add(group + "parts-of-values", false, [method](OperatorCase& c) {
      TestGraph& graph = c.graph(16);
      const Value x = graph.activations(64);
      const Value a = graph.builder().split(x, 8, 16), b = graph.builder().split(x, 40, 16);
      graph.output((graph.builder().*method)(a, b), 16);
      return c.compare_tokens(5);
    });
  }
  for (const float factor : {0.125F, -3.0F, 12.7F}) {
    cases.add("scale/by/" + std::to_string(factor), factor == 0.125F, [factor](OperatorCase& c) {
      TestGraph& graph = c.graph(45);
      graph.output(graph.builder().scale(graph.activations(45), factor), 45);
      return c.compare_tokens(5);
    });
  }
  for (const float cap : {5.0F, 30.0F}) {
    for (const float spread : {1.0F, 100.0F}) {
      cases.add("softcap/" + std::to_string(static_cast<int>(cap)) + "/spread-" +
                    std::to_string(static_cast<int>(spread)),
                spread == 100.0F, [cap, spread](OperatorCase& c) {
                  TestGraph& graph = c.graph(45);
                  graph.output(graph.builder().softcap(graph.activations(45, spread), cap), 45);
                  return c.compare_tokens(5);
                });
    }
  }
}

// The rows are the operator's and the step's at once.
void add_selected(const std::string& name, const std::vector<int32_t>& rows, CaseList& cases) {
  cases.add("select_rows/" + name, true, [rows](OperatorCase& c) {
    TestGraph& graph = c.graph(40);
    graph.output(graph.activations(40), 40);
    StepArrays step = c.tokens(12);
    step.rows = rows;
    return c.compare({step});
  });
}

void add_views(CaseList& cases) {
  add_selected("last", {11}, cases);
  add_selected("none", {}, cases);
  add_selected("in-any-order", {7, 0, 11, 3}, cases);
  add_selected("one-twice", {5, 5, 5}, cases);
  for (const auto& [offset, length] : {std::pair(0, 1), std::pair(1, 31), std::pair(32, 32)}) {
    cases.add("split/" + std::to_string(offset) + "+" + std::to_string(length), offset == 1,
              [offset, length](OperatorCase& c) {
                TestGraph& graph = c.graph(static_cast<uint32_t>(length));
                graph.output(
                    graph.builder().split(graph.activations(64), static_cast<uint64_t>(offset),
                                          static_cast<uint64_t>(length)),
                    length);
                return c.compare_tokens(5);
              });
  }
  cases.add("split/of-each-head", true, [](OperatorCase& c) {
    TestGraph& graph = c.graph(4 * 8);
    graph.output(graph.builder().split(graph.heads(4, 24), 8, 8), 4 * 8);
    return c.compare_tokens(5);
  });
  cases.add("split/of-a-split", false, [](OperatorCase& c) {
    TestGraph& graph = c.graph(8);
    const Value part = graph.builder().split(graph.activations(64), 16, 32);
    graph.output(graph.builder().split(part, 8, 8), 8);
    return c.compare_tokens(5);
  });
  for (const auto& [a, b] : {std::pair(1, 1), std::pair(16, 5), std::pair(100, 28)}) {
    cases.add(
        "concat/" + std::to_string(a) + "+" + std::to_string(b), a == 16, [a, b](OperatorCase& c) {
          TestGraph& graph = c.graph(static_cast<uint32_t>(a + b));
          graph.output(graph.builder().concat(graph.activations(a), graph.activations(b)), a + b);
          return c.compare_tokens(5);
        });
  }
  cases.add("concat/of-each-head", true, [](OperatorCase& c) {
    TestGraph& graph = c.graph(4 * 14);
    graph.output(graph.builder().concat(graph.heads(4, 8), graph.heads(4, 6)), 4 * 14);
    return c.compare_tokens(5);
  });
  cases.add("reshape/heads-and-back", true, [](OperatorCase& c) {
    TestGraph& graph = c.graph(24);
    const Value heads = graph.heads(3, 8);
    const Value other = graph.builder().reshape(heads, {HALOGEN_DIM_TOKENS, 2, 3, 4});
    graph.output(graph.builder().scale(other, 2.0F), 24);
    return c.compare_tokens(5);
  });
}

}  // namespace

void add_vector_cases(CaseList& cases) {
  add_norms(cases);
  add_activations(cases);
  add_sums_and_products(cases);
  add_views(cases);
}

}  // namespace halogen::check
