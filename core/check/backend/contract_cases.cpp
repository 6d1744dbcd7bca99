// The rest of a backend's contract: devices, refusals, cancelling, memory, several programs.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/check/backend/altered_graph.h"
#include "core/check/backend/operator_cases.h"
#include "core/check/reference/evaluate.h"

namespace halogen::check {
namespace {

using Value = TestGraph::Value;

// x · W over one attention layer with a K/V head of `size`, so that there is a KV pool.
void build_small(TestGraph& graph, int64_t size = 16) {
  const Value q = graph.heads(32 / size, size), k = graph.heads(1, size, 1.0F, HALOGEN_F16),
              v = graph.heads(1, size, 1.0F, HALOGEN_F16);
  const Value mixed = graph.builder().reshape(
      graph.builder().attend(q, k, v, {0, 1, 0, 0.25F, 0, 0}), {HALOGEN_DIM_TOKENS, 32});
  graph.output(graph.builder().linear(mixed, graph.weight(HALOGEN_F32, {32, 32})), 32);
}

// Both questions are put: before weights are read, and when a program is made all the same.
Outcome refused(OperatorCase& c, const AlteredGraph& graph, const halogen_node& node,
                const TestGraph& original) {
  const halogen_backend_factory& factory = c.session().factory();
  Findings findings;
  halogen_error error = no_error();
  halogen_status status = factory.supports(c.session().backend(), &graph.table, &node, &error);
  findings.expect(status == HALOGEN_E_UNSUPPORTED,
                  "supports() answers " + described(status, error) + " and not unsupported");
  findings.expect(error.message[0] != '\0', "supports() refuses without a message");
  factory.supports(c.session().backend(), &graph.table, &node, nullptr);

  TestProgram program(c.session(), original, c.sizes());
  program.request().graph = &graph.table;
  halogen_program* made = nullptr;
  error = no_error();
  status = factory.program_create(c.session().backend(), &program.request(), &made, &error);
  findings.expect(status != HALOGEN_OK, "program_create makes a program of it");
  findings.expect(status == HALOGEN_OK || error.message[0] != '\0',
                  "program_create refuses without a message");
  if (made) factory.program_destroy(made);
  return findings.outcome();
}

template <typename Change>
Outcome refused_when(OperatorCase& c, halogen_op op, Change change) {
  TestGraph& graph = c.graph(32);
  build_small(graph);
  if (op == HALOGEN_OP_ACTIVATE) {
    graph.output(graph.builder().activate(graph.activations(32), HALOGEN_RELU), 32);
  }
  if (auto finished = graph.finish(); !finished) return Outcome::failed(finished.error().message);
  AlteredGraph altered(graph.graph());
  halogen_node& node = altered.node_of(op);
  change(altered, node);
  return refused(c, altered, node, graph);
}

// Unknown numbers stay within what the enumerations can hold.
void add_refusals(CaseList& cases) {
  cases.add("contract/refuses/unknown-operator", true, [](OperatorCase& c) {
    return refused_when(c, HALOGEN_OP_LINEAR, [](AlteredGraph&, halogen_node& node) {
      node.op = static_cast<halogen_op>(30);
    });
  });
  cases.add("contract/refuses/unknown-activation", true, [](OperatorCase& c) {
    return refused_when(c, HALOGEN_OP_ACTIVATE, [](AlteredGraph&, halogen_node& node) {
      node.attributes.glu.activation = static_cast<halogen_activation>(7);
    });
  });
  cases.add("contract/refuses/unknown-norm", true, [](OperatorCase& c) {
    TestGraph& graph = c.graph(32);
    graph.output(graph.builder().norm(HALOGEN_NORM_RMS, graph.activations(32), HALOGEN_NO_VALUE,
                                      HALOGEN_NO_VALUE, 1e-5F),
                 32);
    if (auto finished = graph.finish(); !finished) return Outcome::failed(finished.error().message);
    AlteredGraph altered(graph.graph());
    halogen_node& node = altered.node_of(HALOGEN_OP_NORM);
    node.attributes.norm.kind = static_cast<halogen_norm_kind>(0);
    return refused(c, altered, node, graph);
  });
  cases.add("contract/refuses/unknown-weight-type", true, [](OperatorCase& c) {
    return refused_when(c, HALOGEN_OP_LINEAR, [](AlteredGraph& graph, halogen_node& node) {
      halogen_value& value = graph.values[node.inputs[1]];
      value.type = graph.weights[value.source].type = 250;
    });
  });
  cases.add("contract/refuses/unknown-kv-type", true, [](OperatorCase& c) {
    TestGraph& graph = c.graph(32);
    build_small(graph);
    if (auto finished = graph.finish(); !finished) return Outcome::failed(finished.error().message);
    c.sizes().set_kv_type(250);
    TestProgram program(c.session(), graph, c.sizes());
    auto created = program.create();
    Findings findings;
    if (findings.expect(!created.ok(), "a KV pool of the unknown type 250 is accepted"))
      findings.expect(created.error().message.find("no message") == std::string::npos,
                      "an unknown KV type is refused without a message");
    return findings.outcome();
  });
  // A head of 16 elements is no whole block of 32.
  cases.add("contract/refuses/kv-blocks-that-do-not-fit", true, [](OperatorCase& c) {
    TestGraph& graph = c.graph(32);
    build_small(graph);
    if (auto finished = graph.finish(); !finished) return Outcome::failed(finished.error().message);
    Findings findings;
    for (const halogen_type type : {HALOGEN_Q8_0, HALOGEN_Q4_0}) {
      c.sizes().set_kv_type(type);
      TestProgram program(c.session(), graph, c.sizes());
      auto created = program.create();
      if (findings.expect(!created.ok(), "a KV pool of blocks of 32 is accepted for heads of 16"))
        findings.expect(created.error().message.find("no message") == std::string::npos,
                        "KV blocks that do not fit are refused without a message");
    }
    return findings.outcome();
  });
  cases.add("contract/refuses/weights-of-other-sizes", true, [](OperatorCase& c) {
    TestGraph& graph = c.graph(32);
    build_small(graph);
    if (auto finished = graph.finish(); !finished) return Outcome::failed(finished.error().message);
    TestProgram program(c.session(), graph, c.sizes());
    std::vector<halogen_weight_data> weights = graph.weight_data();
    weights.back().bytes -= 4;
    program.request().weights = weights.data();
    const auto created = program.create();
    return created.ok() ? Outcome::failed("a weight that is four bytes short is accepted")
                        : Outcome{};
  });
}

Outcome makes_program(OperatorCase& c) {
  TestGraph& graph = c.graph(32);
  build_small(graph);
  if (auto finished = graph.finish(); !finished) return Outcome::failed(finished.error().message);
  return supported(c.session(), graph.graph());
}

// progress says stop: the program is not made, or was made without asking.
Outcome cancels(OperatorCase& c) {
  if (Outcome outcome = makes_program(c); outcome.verdict != Verdict::pass) return outcome;
  TestGraph& graph = c.graph(32);
  build_small(graph);
  if (auto finished = graph.finish(); !finished) return Outcome::failed(finished.error().message);
  TestProgram program(c.session(), graph, c.sizes());
  struct Asked {
    int times = 0;
    bool sound = true;
  } asked;
  program.request().progress_context = &asked;
  program.request().progress = [](void* context, double fraction, const char* what) {
    auto* seen = static_cast<Asked*>(context);
    seen->times++;
    seen->sound = seen->sound && fraction >= 0 && fraction <= 1 && what != nullptr;
    return false;
  };
  halogen_program* made = nullptr;
  halogen_error error = no_error();
  const halogen_backend_factory& factory = c.session().factory();
  const halogen_status status =
      factory.program_create(c.session().backend(), &program.request(), &made, &error);
  Findings findings;
  findings.expect(asked.sound, "progress gets a fraction outside 0 to 1, or no text");
  if (asked.times > 0) {
    findings.expect(
        status == HALOGEN_E_CANCELLED,
        "program_create answers " + described(status, error) + " after progress said stop");
  }
  if (status == HALOGEN_OK && made) factory.program_destroy(made);
  return findings.outcome();
}

Outcome tells_memory(OperatorCase& c) {
  TestGraph& graph = c.graph(32);
  build_small(graph, 32);
  if (auto finished = graph.finish(); !finished) return Outcome::failed(finished.error().message);
  if (Outcome outcome = supported(c.session(), graph.graph()); outcome.verdict != Verdict::pass)
    return outcome;
  Findings findings;
  for (const halogen_type type : {HALOGEN_F32, HALOGEN_F16, HALOGEN_Q8_0, HALOGEN_Q4_0}) {
    c.sizes().set_kv_type(type);
    TestProgram program(c.session(), graph, c.sizes());
    program.request().weights = nullptr;  // not read yet
    halogen_memory_need need{};
    need.struct_size = sizeof need;
    halogen_error error = no_error();
    const halogen_status status =
        c.session().factory().memory_need(c.session().backend(), &program.request(), &need, &error);
    const bool may_refuse = type == HALOGEN_Q8_0 || type == HALOGEN_Q4_0;
    if (status == HALOGEN_E_UNSUPPORTED && may_refuse) continue;
    if (!findings.expect(status == HALOGEN_OK, "memory_need answers " + described(status, error)))
      break;
    const uint64_t canonical = c.sizes().block_tokens * 2 * halogen_row_bytes(type, 32);
    findings.expect(need.kv_block_bytes == canonical,
                    "memory_need says " + std::to_string(need.kv_block_bytes) +
                        " bytes for a KV block; in the canonical layout it has " +
                        std::to_string(canonical));
    findings.expect(need.struct_size == sizeof need, "memory_need changes the struct's size");
  }
  return findings.outcome();
}

Outcome runs_two_programs(OperatorCase& c) {
  TestGraph& graph = c.graph(32);
  build_small(graph);
  TestGraph other(std::mt19937(5), 40, 48);
  const Value x = other.activations(64);
  other.output(other.builder().linear(x, other.weight(HALOGEN_F32, {48, 64})), 48);
  for (TestGraph* each : {&graph, &other}) {
    if (auto finished = each->finish(); !finished) return Outcome::failed(finished.error().message);
    if (Outcome outcome = supported(c.session(), each->graph()); outcome.verdict != Verdict::pass)
      return outcome;
  }
  TestProgram a(c.session(), graph, c.sizes()), b(c.session(), other, c.sizes());
  reference::KvCache cache_a(a.geometry()), cache_b(b.geometry());
  for (TestProgram* each : {&a, &b})
    if (auto created = each->create(); !created) return Outcome::failed(created.error().message);
  StepMaker maker_a(c.sizes().block_tokens, 4, blocks_in_order(8));
  StepMaker maker_b(c.sizes().block_tokens, 4, blocks_in_order(8));
  Comparison comparison;
  for (uint32_t turn = 0; turn < 4; turn++) {
    const auto step = [&](TestProgram& program, TestGraph& of, StepMaker& maker,
                          reference::KvCache& cache) -> Status {
      const StepArrays arrays = maker.next({{0, random_tokens(of, 1 + turn)}});
      auto rows = program.run(arrays);
      if (!rows) return rows.error();
      comparison.add("output",
                     reference::evaluate(of.graph(), of.weights(), arrays.step(nullptr, nullptr),
                                         cache, c.precision())
                         .hidden,
                     rows->hidden);
      return {};
    };
    for (auto status : {step(a, graph, maker_a, cache_a), step(b, other, maker_b, cache_b)})
      if (!status) return Outcome::failed(status.error().message);
  }
  return comparison.outcome();
}

// A prepared program of the small graph, for what concerns steps.
struct Small {
  TestGraph& graph;
  std::unique_ptr<TestProgram> program;
  Outcome outcome;
};

Small make_small(OperatorCase& c) {
  Small small{c.graph(32), nullptr, {}};
  build_small(small.graph);
  if (auto finished = small.graph.finish(); !finished) {
    small.outcome = Outcome::failed(finished.error().message);
    return small;
  }
  small.outcome = supported(c.session(), small.graph.graph());
  if (small.outcome.verdict != Verdict::pass) return small;
  small.program = std::make_unique<TestProgram>(c.session(), small.graph, c.sizes());
  if (auto created = small.program->create(); !created)
    small.outcome = Outcome::failed(created.error().message);
  return small;
}

// What a first step of the small program has given against the reference.
Outcome compare_output(OperatorCase& c, const Small& small, const halogen_step& step,
                       const std::vector<float>& hidden) {
  reference::KvCache cache(small.program->geometry());
  Comparison comparison;
  comparison.add(
      "output",
      reference::evaluate(small.graph.graph(), small.graph.weights(), step, cache, c.precision())
          .hidden,
      hidden);
  return comparison.outcome();
}

// A deadline that has passed is an error, and the step can be waited for again.
Outcome waits_again(OperatorCase& c) {
  Small small = make_small(c);
  if (small.outcome.verdict != Verdict::pass) return small.outcome;
  StepMaker maker(c.sizes().block_tokens, 8, blocks_in_order(8));
  const StepArrays arrays = maker.next({{0, random_tokens(small.graph, 100)}});
  std::vector<float> hidden(arrays.rows.size() * 32);
  const halogen_step step = arrays.step(nullptr, hidden.data());
  const halogen_backend_factory& factory = c.session().factory();
  uint64_t ticket = 0;
  halogen_error error = no_error();
  halogen_status status = factory.step_submit(small.program->program(), small.program->kv(),
                                              nullptr, &step, &ticket, &error);
  if (status != HALOGEN_OK)
    return Outcome::failed("step_submit answers " + described(status, error));
  for (int i = 0; i < 3; i++) {
    status = factory.step_wait(small.program->program(), ticket, 0, &error);
    if (status == HALOGEN_OK) break;
    if (status != HALOGEN_E_TIMEOUT)
      return Outcome::failed("step_wait without patience answers " + described(status, error));
    if (error.message[0] == '\0') return Outcome::failed("step_wait times out without a message");
  }
  if (status != HALOGEN_OK)
    status = factory.step_wait(small.program->program(), ticket, kStepPatience, &error);
  if (status != HALOGEN_OK) return Outcome::failed("step_wait answers " + described(status, error));
  return compare_output(c, small, step, hidden);
}

// Structs of a host that is newer: larger, with members that the plugin does not know.
Outcome takes_larger_structs(OperatorCase& c) {
  Small small = make_small(c);
  if (small.outcome.verdict != Verdict::pass) return small.outcome;
  StepMaker maker(c.sizes().block_tokens, 8, blocks_in_order(8));
  const StepArrays arrays = maker.next({{0, random_tokens(small.graph, 5)}});
  std::vector<float> hidden(arrays.rows.size() * 32);
  struct {
    halogen_step step;
    uint8_t more[64];
  } newer{arrays.step(nullptr, hidden.data()), {}};
  std::memset(newer.more, 0xa5, sizeof newer.more);
  newer.step.struct_size = sizeof newer;
  const halogen_backend_factory& factory = c.session().factory();
  uint64_t ticket = 0;
  halogen_error error = no_error();
  halogen_status status = factory.step_submit(small.program->program(), small.program->kv(),
                                              nullptr, &newer.step, &ticket, &error);
  if (status == HALOGEN_OK)
    status = factory.step_wait(small.program->program(), ticket, kStepPatience, &error);
  if (status != HALOGEN_OK)
    return Outcome::failed("a step of a newer host gets " + described(status, error));
  return compare_output(c, small, newer.step, hidden);
}

Outcome takes_two_steps(OperatorCase& c) {
  Small small = make_small(c);
  if (small.outcome.verdict != Verdict::pass) return small.outcome;
  StepMaker maker(c.sizes().block_tokens, 4, blocks_in_order(8));
  const StepArrays first = maker.next({{0, random_tokens(small.graph, 50)}});
  const StepArrays second = maker.next({{1, random_tokens(small.graph, 3)}});
  std::vector<float> out_first(50 * 32), out_second(3 * 32);
  const halogen_step a = first.step(nullptr, out_first.data()),
                     b = second.step(nullptr, out_second.data());
  const halogen_backend_factory& factory = c.session().factory();
  halogen_program* program = small.program->program();
  uint64_t tickets[2] = {};
  halogen_error error = no_error();
  halogen_status status =
      factory.step_submit(program, small.program->kv(), nullptr, &a, &tickets[0], &error);
  if (status != HALOGEN_OK)
    return Outcome::failed("step_submit answers " + described(status, error));
  const halogen_status both =
      factory.step_submit(program, small.program->kv(), nullptr, &b, &tickets[1], &error);
  if (both != HALOGEN_OK && both != HALOGEN_E_BUSY)
    return Outcome::failed("a second step in flight gets " + described(both, error));
  status = factory.step_wait(program, tickets[0], kStepPatience, &error);
  if (both == HALOGEN_E_BUSY && status == HALOGEN_OK)  // one at a time, then
    status = factory.step_submit(program, small.program->kv(), nullptr, &b, &tickets[1], &error);
  if (status == HALOGEN_OK) status = factory.step_wait(program, tickets[1], kStepPatience, &error);
  if (status != HALOGEN_OK)
    return Outcome::failed("the steps end with " + described(status, error));
  reference::KvCache cache(small.program->geometry());
  Comparison comparison;
  const auto add = [&](const char* what, const halogen_step& step, const std::vector<float>& got) {
    comparison.add(
        what,
        reference::evaluate(small.graph.graph(), small.graph.weights(), step, cache, c.precision())
            .hidden,
        got);
  };
  add("first step", a, out_first);
  add("second step", b, out_second);
  return comparison.outcome();
}

Outcome counts(OperatorCase& c) {
  Small small = make_small(c);
  if (small.outcome.verdict != Verdict::pass) return small.outcome;
  StepMaker maker(c.sizes().block_tokens, 8, blocks_in_order(8));
  auto rows = small.program->run(maker.next({{0, random_tokens(small.graph, 9)}}));
  if (!rows) return Outcome::failed(rows.error().message);
  halogen_counters counters{};
  counters.struct_size = sizeof counters;
  c.session().factory().counters(small.program->program(), &counters);
  Findings findings;
  findings.expect(counters.struct_size == sizeof counters, "counters() changes the struct's size");
  findings.expect(counters.operations > 0, "counters() tells of no operations after a step");
  findings.expect(counters.bytes > 0, "counters() tells of no bytes after a step");
  findings.expect(counters.device_seconds >= 0 && std::isfinite(counters.device_seconds),
                  "counters() tells of no sound time");
  return findings.outcome();
}

Outcome lists_devices(OperatorCase& c) {
  Findings findings;
  for (uint32_t i = 0; i < 64; i++) {
    halogen_device device{};
    device.struct_size = sizeof device;
    halogen_error error = no_error();
    const halogen_status status = c.session().factory().device_at(i, &device, &error);
    const std::string which = "device " + std::to_string(i);
    if (status != HALOGEN_OK) {
      findings.expect(i > 0, which + ": " + described(status, error) + ", although create works");
      findings.expect(status == HALOGEN_E_NOT_FOUND,
                      which + ", past the last one, gets " + described(status, error));
      findings.expect(error.message[0] != '\0', "there is no message past the last device");
      c.session().factory().device_at(i, &device, nullptr);
      return findings.outcome();
    }
    findings.expect(std::memchr(device.name, 0, sizeof device.name) != nullptr && device.name[0],
                    which + " has no name, or one without an end");
    findings.expect(std::memchr(device.pci, 0, sizeof device.pci) != nullptr,
                    which + " has a PCI id without an end");
    findings.expect(device.kind >= HALOGEN_DEVICE_CPU && device.kind <= HALOGEN_DEVICE_OTHER,
                    which + " is of an unknown kind");
    findings.expect(device.memory_bytes > 0 && device.memory_free_bytes <= device.memory_bytes,
                    which + " has no memory, or more free than there is");
    findings.expect(device.bandwidth >= 0 && std::isfinite(device.bandwidth),
                    which + " has no sound bandwidth");
  }
  findings.expect(false, "there is no end of devices");
  return findings.outcome();
}

Outcome sets_options(OperatorCase& c) {
  const halogen_backend_factory& factory = c.session().factory();
  Findings findings;
  halogen_error error = no_error();
  halogen_status status = factory.option_set(c.session().backend(), "no_such_key", "1", &error);
  findings.expect(status != HALOGEN_OK, "option_set accepts a key that does not exist");
  findings.expect(std::string(error.message).find("no_such_key") != std::string::npos,
                  "option_set's message does not name the key: " + std::string(error.message));
  for (uint32_t i = 0; i < factory.n_config_keys; i++) {
    const halogen_config_key& key = *factory.config_keys[i];
    if (!HALOGEN_HAS(&key, live) || !key.live) continue;
    error = no_error();
    status = factory.option_set(c.session().backend(), key.name, key.default_value, &error);
    findings.expect(status == HALOGEN_OK,
                    std::string("option_set refuses the default of the live key ") + key.name +
                        ": " + described(status, error));
  }
  return findings.outcome();
}

Outcome creates_again(OperatorCase& c, Subject& subject) {
  const halogen_backend_factory& factory = c.session().factory();
  auto settings = subject.settings("backend", {factory.config_keys, factory.n_config_keys});
  if (!settings) return Outcome::failed(settings.error().message);
  for (int i = 0; i < 3; i++) {
    halogen_backend* another = nullptr;
    halogen_error error = no_error();
    const halogen_status status = factory.create(settings->config(), &another, &error);
    if (status != HALOGEN_OK)
      return Outcome::failed("a second backend beside the first gets " + described(status, error));
    factory.destroy(another);
  }
  return {};
}

}  // namespace

void add_contract_cases(CaseList& cases) {
  cases.add("contract/life/program", true, makes_program);
  cases.add("contract/life/several-backends", true,
            [](OperatorCase& c) { return creates_again(c, c.subject()); });
  cases.add("contract/life/two-programs", true, runs_two_programs);
  cases.add("contract/life/cancelled", true, cancels);
  cases.add("contract/tells/devices", true, lists_devices);
  cases.add("contract/tells/memory", true, tells_memory);
  cases.add("contract/tells/counters", true, counts);
  cases.add("contract/tells/options", true, sets_options);
  cases.add("contract/steps/wait-again", true, waits_again);
  cases.add("contract/steps/two-in-flight", true, takes_two_steps);
  cases.add("contract/steps/newer-host", true, takes_larger_structs);
  add_refusals(cases);
}

}  // namespace halogen::check
