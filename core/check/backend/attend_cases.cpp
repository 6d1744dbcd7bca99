// Attention: grouping of heads, sizes, windows, softcap, sinks, chunks; prefill and decode over
// scattered blocks.
#include <cmath>

#include "core/check/backend/operator_cases.h"

namespace halogen::check {
namespace {

struct Attention {
  int64_t heads = 4, kv_heads = 2, key_dim = 64, value_dim = 64;
  halogen_attend_attributes attributes{0, 1, 0, 0.125F, 0, 0};
  bool sinks = false;
  halogen_type kv_type = HALOGEN_F32;
  uint32_t block_tokens = 16;
  float spread = 1.0F;
  std::vector<uint32_t> steps = {65, 1};  // tokens of one sequence
};

Outcome run(OperatorCase& c, const Attention& attention) {
  c.sizes().kv_type = attention.kv_type;
  c.sizes().block_tokens = attention.block_tokens;
  c.sizes().max_context = c.sizes().max_tokens = 256;
  const uint32_t blocks = (256 + attention.block_tokens - 1) / attention.block_tokens;
  c.sizes().blocks = 2 * blocks;
  const int64_t width = attention.heads * attention.value_dim;
  TestGraph& graph = c.graph(static_cast<uint32_t>(width));
  const auto q = graph.heads(attention.heads, attention.key_dim, attention.spread);
  const auto k = graph.heads(attention.kv_heads, attention.key_dim, attention.spread, true);
  const auto v = graph.heads(attention.kv_heads, attention.value_dim, 1.0F, true);
  const auto sinks =
      attention.sinks ? graph.weight(HALOGEN_F32, {attention.heads}, 2.0F) : HALOGEN_NO_VALUE;
  graph.output(graph.builder().attend(q, k, v, attention.attributes, sinks), width);
  // A second sequence goes along, so that nobody reads another's blocks unnoticed.
  StepMaker maker(attention.block_tokens, blocks, shuffled_blocks(2 * blocks, 3));
  std::vector<StepArrays> steps;
  for (const uint32_t tokens : attention.steps) {
    steps.push_back(
        maker.next({{1, random_tokens(graph, tokens)}, {0, random_tokens(graph, 1 + tokens / 3)}}));
  }
  return c.compare(steps);
}

void add_sizes(CaseList& cases) {
  struct Heads {
    const char* name;
    int64_t heads, kv_heads;
  };
  for (const Heads& heads : {Heads{"mha", 3, 3}, Heads{"gqa", 6, 2}, Heads{"mqa", 5, 1}}) {
    for (const int64_t size : {64, 80, 128}) {
      for (const auto& [type, type_name] :
           {std::pair(HALOGEN_F32, "F32"), std::pair(HALOGEN_F16, "F16")}) {
        Attention attention;
        attention.heads = heads.heads;
        attention.kv_heads = heads.kv_heads;
        attention.key_dim = attention.value_dim = size;
        attention.attributes.scale = 1.0F / std::sqrt(static_cast<float>(size));
        attention.kv_type = type;
        cases.add(
            std::string("attend/") + heads.name + "/" + std::to_string(size) + "-" + type_name,
            size == 64, [attention](OperatorCase& c) { return run(c, attention); });
      }
    }
  }
}

void add_lengths(CaseList& cases) {
  const std::pair<const char*, std::vector<uint32_t>> all[] = {{"one", {1}},
                                                               {"three", {3}},
                                                               {"block", {16}},
                                                               {"block-and-one", {17}},
                                                               {"64", {64}},
                                                               {"100", {100}},
                                                               {"decodes", {5, 1, 1, 1, 1}},
                                                               {"chunks", {40, 23}},
                                                               {"decode-at-100", {100, 1, 1}}};
  for (const auto& [name, steps] : all) {
    Attention attention;
    attention.steps = steps;
    cases.add(std::string("attend/tokens/") + name, steps.size() > 1,
              [attention](OperatorCase& c) { return run(c, attention); });
  }
  for (const uint32_t block_tokens : {1, 3, 16, 32, 64, 256}) {
    Attention attention;
    attention.block_tokens = block_tokens;
    cases.add("attend/block/" + std::to_string(block_tokens), block_tokens == 3,
              [attention](OperatorCase& c) { return run(c, attention); });
  }
}

void add_kinds(CaseList& cases) {
  const auto add = [&](const std::string& name, bool quick, auto change) {
    Attention attention;
    change(attention);
    cases.add("attend/" + name, quick, [attention](OperatorCase& c) { return run(c, attention); });
  };
  for (const uint32_t window : {1U, 7U, 16U, 40U, 200U})
    add("window/" + std::to_string(window), window == 7,
        [&](Attention& a) { a.attributes.window = window; });
  for (const float cap : {2.0F, 50.0F})
    add("softcap/" + std::to_string(static_cast<int>(cap)), cap == 50.0F,
        [&](Attention& a) { a.attributes.softcap = cap; });
  for (const uint32_t chunk : {8U, 50U})
    add("chunk/" + std::to_string(chunk), chunk == 8,
        [&](Attention& a) { a.attributes.chunk = chunk; });
  add("sinks/plain", true, [](Attention& a) { a.sinks = true; });
  add("sinks/window", false, [](Attention& a) {
    a.sinks = true;
    a.attributes.window = 9;
  });
  add("sinks/softcap", false, [](Attention& a) {
    a.sinks = true;
    a.attributes.softcap = 3;
  });
  // One step each: the tokens of an encoder all see the whole sequence of their step.
  add("encoder/plain", true, [](Attention& a) {
    a.attributes.causal = 0;
    a.steps = {37};
  });
  add("scores/peaked", true, [](Attention& a) { a.spread = 4; });
  add("scores/flat", false, [](Attention& a) { a.attributes.scale = 0; });
  add("dims/value-smaller", false, [](Attention& a) {
    a.key_dim = 48;
    a.value_dim = 32;
  });
  add("dims/value-larger", false, [](Attention& a) {
    a.key_dim = 32;
    a.value_dim = 48;
  });
  add("dims/odd", false, [](Attention& a) {
    a.key_dim = 20;
    a.value_dim = 13;
  });
}

}  // namespace

void add_attend_cases(CaseList& cases) {
  add_sizes(cases);
  add_lengths(cases);
  add_kinds(cases);
}

}  // namespace halogen::check
