// Mixtures of experts: routing, the experts' products, bringing them together.
#include "core/check/backend/operator_cases.h"
#include "core/check/reference/dequantise.h"

namespace halogen::check {
namespace {

using Value = TestGraph::Value;

halogen_route_attributes route(uint32_t experts, uint32_t used, uint32_t scoring,
                               uint32_t renormalise, float scale) {
  halogen_route_attributes attributes{};
  attributes.experts = experts;
  attributes.used = used;
  attributes.scoring = scoring;
  attributes.renormalise = renormalise;
  attributes.scale = scale;
  return attributes;
}

// The weights that a route gives, best first.
Outcome run_route(OperatorCase& c, const halogen_route_attributes& attributes, bool correction) {
  TestGraph& graph = c.graph(attributes.used);
  const Value logits = graph.activations(attributes.experts, 2.0F);
  const Value offset =
      correction ? graph.weight(HALOGEN_F32, {attributes.experts}, 0.2F) : HALOGEN_NO_VALUE;
  graph.output(graph.builder().moe_route(logits, attributes, offset).weights, attributes.used);
  return c.compare_tokens(17);
}

// x -> two products for each chosen expert -> one row.
Outcome run_experts(OperatorCase& c, halogen_type type, uint32_t tokens, bool bias) {
  constexpr uint32_t kExperts = 5, kUsed = 2;
  const int64_t in = std::max<int64_t>(halogen_type_find(type)->block_elements, 64), out = 36;
  TestGraph& graph = c.graph(out);
  GraphBuilder& builder = graph.builder();
  const Value x = graph.activations(in);
  const auto chosen =
      builder.moe_route(graph.activations(kExperts, 2.0F), route(kExperts, kUsed, 0, 1, 1.0F));
  const Value inner = builder.moe_linear(x, graph.weight(type, {kExperts, in, in}), chosen.ids);
  const Value offset = bias ? graph.weight(HALOGEN_F32, {kExperts, out}, 1.0F) : HALOGEN_NO_VALUE;
  const Value outer =
      builder.moe_linear(inner, graph.weight(type, {kExperts, out, in}), chosen.ids, offset);
  graph.output(builder.moe_combine(outer, chosen.weights), out);
  return c.compare_tokens(tokens);
}

}  // namespace

void add_expert_cases(CaseList& cases) {
  static constexpr const char* kScorings[] = {"softmax", "softmax-of-chosen", "sigmoid"};
  for (uint32_t scoring = 0; scoring < 3; scoring++) {
    const std::string group = std::string("moe_route/") + kScorings[scoring] + "/";
    for (const auto& [experts, used] : {std::pair(4, 1), std::pair(8, 2), std::pair(60, 7)}) {
      const auto attributes =
          route(static_cast<uint32_t>(experts), static_cast<uint32_t>(used), scoring, 0, 1.0F);
      cases.add(group + std::to_string(used) + "-of-" + std::to_string(experts), experts == 8,
                [attributes](OperatorCase& c) { return run_route(c, attributes, false); });
    }
    cases.add(group + "renormalised", true, [scoring](OperatorCase& c) {
      return run_route(c, route(16, 4, scoring, 1, 2.5F), false);
    });
    cases.add(group + "correction", true, [scoring](OperatorCase& c) {
      return run_route(c, route(16, 4, scoring, 1, 1.0F), true);
    });
  }
  for (const halogen_type id : reference::known_types()) {
    const std::string group = std::string("moe_linear/") + halogen_type_find(id)->name + "/";
    for (const uint32_t tokens : {1U, 19U})
      cases.add(group + std::to_string(tokens), tokens == 1,
                [id, tokens](OperatorCase& c) { return run_experts(c, id, tokens, false); });
    cases.add(group + "bias", false, [id](OperatorCase& c) { return run_experts(c, id, 3, true); });
  }
}

}  // namespace halogen::check
