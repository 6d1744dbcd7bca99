// Attention: grouping of heads, sizes, windows, softcap, sinks, chunks; prefill and decode over
// scattered blocks.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/check/backend/operator_cases.h"

namespace halogen::check {
namespace {

struct Attention {
  int64_t heads = 4, kv_heads = 2, key_dim = 64, value_dim = 64;
  halogen_attend_attributes attributes{0, 1, 0, 0.125F, 0, 0};
  bool sinks = false;
  halogen_type key_type = HALOGEN_F32, value_type = HALOGEN_F32;
  bool exact = true;  // K and V are such that the pool keeps them as they are
  uint32_t context = 256, block_tokens = 16;
  float spread = 1.0F;
  std::vector<uint32_t> steps = {65, 1};  // tokens of one sequence
};

Outcome run(OperatorCase& c, const Attention& attention) {
  c.sizes().key_type = attention.key_type;
  c.sizes().value_type = attention.value_type;
  c.sizes().block_tokens = attention.block_tokens;
  c.sizes().max_context = c.sizes().max_tokens = attention.context;
  const uint32_t blocks = (attention.context + attention.block_tokens - 1) / attention.block_tokens;
  c.sizes().blocks = 2 * blocks;
  const int64_t width = attention.heads * attention.value_dim;
  TestGraph& graph = c.graph(static_cast<uint32_t>(width));
  const auto q = graph.heads(attention.heads, attention.key_dim, attention.spread);
  // What fits halves fits floats too.
  const auto kept_as = [&](halogen_type type) -> halogen_type {
    if (!attention.exact) return HALOGEN_F32;
    return type == HALOGEN_F32 ? halogen_type{HALOGEN_F16} : type;
  };
  const auto k = graph.heads(attention.kv_heads, attention.key_dim, attention.spread,
                             kept_as(attention.key_type));
  const auto v =
      graph.heads(attention.kv_heads, attention.value_dim, 1.0F, kept_as(attention.value_type));
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
           {std::pair(HALOGEN_F32, "F32"), std::pair(HALOGEN_F16, "F16"),
            std::pair(HALOGEN_Q8_0, "Q8_0"), std::pair(HALOGEN_Q4_0, "Q4_0")}) {
        if (halogen_row_bytes(type, static_cast<uint64_t>(size)) == 0) continue;
        Attention attention;
        attention.heads = heads.heads;
        attention.kv_heads = heads.kv_heads;
        attention.key_dim = attention.value_dim = size;
        attention.attributes.scale = 1.0F / std::sqrt(static_cast<float>(size));
        attention.key_type = attention.value_type = type;
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

// Keys and values of types of their own, and such that storing rounds them.
void add_stored_types(CaseList& cases) {
  struct Types {
    const char* name;
    halogen_type key, value;
  };
  for (const Types& types :
       {Types{"F16-F32", HALOGEN_F16, HALOGEN_F32}, Types{"F16-Q8_0", HALOGEN_F16, HALOGEN_Q8_0},
        Types{"Q8_0-Q4_0", HALOGEN_Q8_0, HALOGEN_Q4_0},
        Types{"Q4_0-F16", HALOGEN_Q4_0, HALOGEN_F16},
        Types{"Q8_0-Q8_0", HALOGEN_Q8_0, HALOGEN_Q8_0},
        Types{"Q4_0-Q4_0", HALOGEN_Q4_0, HALOGEN_Q4_0}}) {
    for (const bool exact : {true, false}) {
      Attention attention;
      attention.key_type = types.key;
      attention.value_type = types.value;
      attention.exact = exact;
      if (!exact) attention.spread = 0.5F;
      cases.add(std::string("attend/stored/") + types.name + (exact ? "" : "-rounded"), exact,
                [attention](OperatorCase& c) { return run(c, attention); });
    }
  }
}

// The routes among which an operator may choose, where the backend has such a choice.
Outcome run_route(OperatorCase& c, const Attention& attention, const char* route) {
  const halogen_backend_factory& factory = c.session().factory();
  const auto set = [&](const char* value) {
    halogen_error error = no_error();
    const halogen_status status = factory.option_set(c.session().backend(), "flash", value, &error);
    return status == HALOGEN_OK ? Status()
                                : fail(status, "option_set of flash to " + std::string(value) +
                                                   " answers " + described(status, error));
  };
  const auto* const* keys = factory.config_keys;
  const auto* const* flash =
      std::find_if(keys, keys + factory.n_config_keys, [](const halogen_config_key* key) {
        return std::string_view(key->name) == "flash" && HALOGEN_HAS(key, live) && key->live;
      });
  if (flash == keys + factory.n_config_keys)
    return Outcome::unsupported("there is no live setting flash");
  if (auto changed = set(route); !changed) return Outcome::failed(changed.error().message);
  Outcome outcome = run(c, attention);
  if (auto changed = set((*flash)->default_value); !changed)
    return Outcome::failed(changed.error().message);
  return outcome;
}

void add_routes(CaseList& cases) {
  for (const char* route : {"on", "off"}) {
    const auto add = [&](const char* name, auto change) {
      Attention attention;
      attention.context = 600;
      attention.steps = {300, 1, 270, 1};
      change(attention);
      cases.add(std::string("attend/flash-") + route + "/" + name, false,
                [attention, route](OperatorCase& c) { return run_route(c, attention, route); });
    };
    add("plain", [](Attention&) {});
    add("window", [](Attention& a) { a.attributes.window = 270; });
    add("sinks-softcap", [](Attention& a) {
      a.sinks = true;
      a.attributes.softcap = 3;
    });
    add("Q8_0", [](Attention& a) { a.key_type = a.value_type = HALOGEN_Q8_0; });
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
  add_stored_types(cases);
  add_routes(cases);
  add_kinds(cases);
}

}  // namespace halogen::check
