// Rotary embedding: pairings, parts of heads, scalings, factors; positions near and far.
#include "core/check/backend/operator_cases.h"

namespace halogen::check {
namespace {

struct Rope {
  const char* name;
  halogen_rope_attributes attributes;
};

halogen_rope_attributes plain(float base = 10000.0F) {
  halogen_rope_attributes attributes{};
  attributes.pairing = HALOGEN_ROPE_HALVES;
  attributes.scaling = HALOGEN_ROPE_PLAIN;
  attributes.base = base;
  attributes.factor = 1;
  attributes.attention_factor = 1;
  return attributes;
}

halogen_rope_attributes linear() {
  halogen_rope_attributes attributes = plain();
  attributes.scaling = HALOGEN_ROPE_LINEAR;
  attributes.factor = 4;
  return attributes;
}

halogen_rope_attributes yarn(uint32_t truncate) {
  halogen_rope_attributes attributes = plain(1e6F);
  attributes.scaling = HALOGEN_ROPE_YARN;
  attributes.factor = 4;
  attributes.original_context = 4096;
  attributes.beta_fast = 32;
  attributes.beta_slow = 1;
  attributes.attention_factor = 1.1386294F;  // 0.1 ln 4 + 1
  attributes.yarn_truncate = truncate;
  return attributes;
}

halogen_rope_attributes llama3() {
  halogen_rope_attributes attributes = plain(500000.0F);
  attributes.scaling = HALOGEN_ROPE_LLAMA3;
  attributes.factor = 8;
  attributes.original_context = 8192;
  attributes.low_frequency_factor = 1;
  attributes.high_frequency_factor = 4;
  return attributes;
}

Outcome run(OperatorCase& c, halogen_rope_attributes attributes, int64_t heads, int64_t size,
            uint32_t rotated, int32_t first, bool factors) {
  TestGraph& graph = c.graph(static_cast<uint32_t>(heads * size));
  attributes.dims = rotated;
  const auto x = graph.heads(heads, size);
  auto divisors = HALOGEN_NO_VALUE;
  if (factors) {
    std::vector<uint8_t> bytes(rotated / 2 * sizeof(float));
    for (uint32_t i = 0; i < rotated / 2; i++) {
      const float divisor = 1.0F + 0.25F * static_cast<float>(i);
      std::memcpy(&bytes[i * sizeof divisor], &divisor, sizeof divisor);
    }
    divisors = graph.weight(HALOGEN_F32, {rotated / 2}, bytes);
  }
  graph.output(graph.builder().rope(x, graph.builder().positions(), attributes, divisors),
               heads * size);
  StepArrays step = c.tokens(9);
  for (int32_t& position : step.positions) position += first;
  // The graph has no KV layer, so that one block may stand for all of a long context.
  const auto length = static_cast<uint32_t>(step.positions.back()) + 1;
  step.context_lengths = {length};
  step.block_table_stride = length / c.sizes().block_tokens + 1;
  step.block_tables.assign(step.block_table_stride, 0);
  c.sizes().max_context = length;
  return c.compare({step});
}

}  // namespace

void add_rope_cases(CaseList& cases) {
  const Rope kinds[] = {{"plain", plain()},
                        {"linear", linear()},
                        {"yarn", yarn(1)},
                        {"yarn-untruncated", yarn(0)},
                        {"llama3", llama3()}};
  for (const auto& [pairing, pairing_name] :
       {std::pair(HALOGEN_ROPE_ADJACENT, "adjacent"), std::pair(HALOGEN_ROPE_HALVES, "halves")}) {
    for (const Rope& rope : kinds) {
      halogen_rope_attributes attributes = rope.attributes;
      attributes.pairing = pairing;
      const std::string group = std::string("rope/") + rope.name + "-" + pairing_name + "/";
      const auto add = [&](const char* name, bool quick, int64_t heads, int64_t size,
                           uint32_t rotated, int32_t first, bool factors) {
        cases.add(group + name, quick, [=](OperatorCase& c) {
          return run(c, attributes, heads, size, rotated, first, factors);
        });
      };
      add("64", true, 3, 64, 64, 0, false);
      add("80", false, 2, 80, 80, 0, false);
      add("128", false, 5, 128, 128, 17, false);
      add("part-of-the-head", true, 3, 96, 32, 5, false);
      add("two-elements", false, 1, 6, 2, 3, false);
      add("far", true, 2, 64, 64, 100000, false);
      add("factors", true, 2, 64, 64, 1000, true);
    }
  }
}

}  // namespace halogen::check
