// The block KV pool: any blocks serve, the canonical layout is the header's, nothing but what was
// stored is ever read.
#include <algorithm>
#include <cstring>

#include "core/check/backend/operator_cases.h"
#include "core/check/reference/dequantise.h"
#include "core/check/reference/evaluate.h"

namespace halogen::check {
namespace {

constexpr uint32_t kBlockTokens = 8, kSequenceBlocks = 6, kBlocks = 4 * kSequenceBlocks;
constexpr int64_t kHeads = 4, kKvHeads = 2, kKeyDim = 32, kValueDim = 64;

// Two attention layers whose K and V are exact: looked up, and as the pool keeps them.
void build(TestGraph& graph, halogen_type type) {
  const halogen_type kept_as = type == HALOGEN_F32 ? halogen_type{HALOGEN_F16} : type;
  GraphBuilder& builder = graph.builder();
  TestGraph::Value sum = HALOGEN_NO_VALUE;
  for (int layer = 0; layer < 2; layer++) {
    const auto q = graph.heads(kHeads, kKeyDim);
    const auto k = graph.heads(kKvHeads, kKeyDim, 1.0F, kept_as);
    const auto v = graph.heads(kKvHeads, kValueDim, 1.0F, kept_as);
    const auto out = builder.attend(q, k, v, {0, 1, 0, 0.17F, 0, 0});
    sum = layer == 0 ? out : builder.add(sum, out);
  }
  graph.output(sum, kHeads * kValueDim);
}

// A program, the reference's idea of its pool, and what was seen so far.
class KvRun {
 public:
  KvRun(OperatorCase& c, const TestGraph& graph, const ProgramSizes& sizes)
      : precision_(c.precision()),
        session_(c.session()),
        graph_(graph),
        program_(c.session(), graph, sizes),
        cache_(
            {sizeof(halogen_kv_geometry), sizes.block_tokens, sizes.key_type, sizes.value_type}) {}

  Status create() { return program_.create(); }

  // Runs a step and compares it.
  Status step(const std::string& what, const StepArrays& arrays) {
    auto rows = program_.run(arrays);
    if (!rows) return rows.error();
    const auto expected = reference::evaluate(graph_.graph(), graph_.weights(),
                                              arrays.step(nullptr, nullptr), cache_, precision_);
    comparison_.add(what, expected.hidden, rows->hidden);
    last_ = std::move(rows->hidden);
    return {};
  }

  size_t block_bytes() const {
    const halogen_kv_geometry& geometry = program_.geometry();
    return 2 * kKvHeads * kBlockTokens *
           (halogen_row_bytes(geometry.key_type, kKeyDim) +
            halogen_row_bytes(geometry.value_type, kValueDim));
  }
  Result<std::vector<uint8_t>> exported(uint32_t block) const {
    GuardedMemory memory(block_bytes());
    halogen_error error = no_error();
    const halogen_status status =
        session_.factory().kv_export(program_.kv(), block, memory.data(), memory.size(), &error);
    if (status != HALOGEN_OK) return fail(status, "kv_export answers " + described(status, error));
    return std::vector<uint8_t>(memory.data(), memory.data() + memory.size());
  }
  Status import(uint32_t block, const std::vector<uint8_t>& bytes) {
    GuardedMemory memory(bytes);
    memory.protect();
    halogen_error error = no_error();
    const halogen_status status =
        session_.factory().kv_import(program_.kv(), block, memory.data(), memory.size(), &error);
    if (status != HALOGEN_OK) return fail(status, "kv_import answers " + described(status, error));
    return {};
  }
  Status copy(const std::vector<uint32_t>& from, const std::vector<uint32_t>& to) {
    halogen_error error = no_error();
    const halogen_status status = session_.factory().kv_copy(
        program_.kv(), from.data(), to.data(), static_cast<uint32_t>(from.size()), &error);
    if (status != HALOGEN_OK) return fail(status, "kv_copy answers " + described(status, error));
    for (size_t i = 0; i < from.size(); i++) move_reference(cache_, from[i], to[i]);
    return {};
  }
  // Tells the reference that block `to` holds what block `from` of `source` did.
  void move_reference(const reference::KvCache& source, uint32_t from, uint32_t to) {
    for (uint32_t layer = 0; layer < 2; layer++)
      for (uint32_t i = 0; i < kBlockTokens; i++)
        if (const auto* entry = source.find(layer, from * kBlockTokens + i))
          cache_.store(layer, to * kBlockTokens + i, *entry);
  }

  // Whether a block in the canonical layout is what the reference stored; slots that were never
  // written may hold anything.
  std::string difference(uint32_t block, const std::vector<uint8_t>& bytes) const;

  const reference::KvCache& cache() const { return cache_; }
  const TestProgram& program() const { return program_; }
  const std::vector<float>& last() const { return last_; }
  Outcome outcome() const { return comparison_.outcome(); }

 private:
  reference::Precision precision_;
  const BackendSession& session_;
  const TestGraph& graph_;
  TestProgram program_;
  reference::KvCache cache_;
  Comparison comparison_;
  std::vector<float> last_;
};

std::string KvRun::difference(uint32_t block, const std::vector<uint8_t>& bytes) const {
  const halogen_type type = program_.geometry().key_type;
  size_t at = 0;
  for (uint32_t layer = 0; layer < 2; layer++) {
    for (const bool is_key : {true, false}) {
      const int64_t dim = is_key ? kKeyDim : kValueDim;
      for (int64_t head = 0; head < kKvHeads; head++) {
        for (uint32_t i = 0; i < kBlockTokens; i++) {
          const auto* entry = cache_.find(layer, block * kBlockTokens + i);
          std::vector<double> row(static_cast<size_t>(dim));
          reference::dequantise(type, &bytes[at], row.size(), row.data());
          at += halogen_row_bytes(type, row.size());
          for (int64_t d = 0; entry && d < dim; d++) {
            const double value = row[static_cast<size_t>(d)];
            const reference::Tensor& tensor = is_key ? entry->key : entry->value;
            const double right = tensor.values[static_cast<size_t>(head * dim + d)];
            if (value == right) continue;
            return std::string(is_key ? "K" : "V") + " of layer " + std::to_string(layer) +
                   ", head " + std::to_string(head) + ", position " + std::to_string(i) +
                   " of the block, element " + std::to_string(d) + " is " + std::to_string(value) +
                   " and not " + std::to_string(right);
          }
        }
      }
    }
  }
  return {};
}

// A KvRun ready to go, or what stands against it.
struct Prepared {
  TestGraph& graph;
  std::unique_ptr<KvRun> run;
  Outcome outcome;
};

Prepared prepare(OperatorCase& c, halogen_type type) {
  ProgramSizes sizes = c.sizes();
  sizes.block_tokens = kBlockTokens;
  sizes.blocks = kBlocks;
  sizes.max_context = kBlockTokens * kSequenceBlocks;
  sizes.set_kv_type(type);
  Prepared prepared{c.graph(kHeads * kValueDim), nullptr, {}};
  build(prepared.graph, type);
  if (auto finished = prepared.graph.finish(); !finished) {
    prepared.outcome = Outcome::failed(finished.error().message);
    return prepared;
  }
  prepared.outcome = supported(c.session(), prepared.graph.graph());
  if (prepared.outcome.verdict != Verdict::pass) return prepared;
  prepared.run = std::make_unique<KvRun>(c, prepared.graph, sizes);
  if (auto created = prepared.run->create(); !created)
    prepared.outcome = not_created(created.error(), sizes);
  return prepared;
}

// Prefills sequence 0 with 21 tokens and decodes one.
Status play(KvRun& run, StepMaker& maker, const std::vector<int32_t>& tokens) {
  const std::vector<int32_t> prompt(tokens.begin(), tokens.end() - 1);
  if (auto status = run.step("prefill", maker.next({{0, prompt}})); !status) return status;
  return run.step("decode", maker.next({{0, {tokens.back()}}}));
}

Outcome scattered(OperatorCase& c, halogen_type type) {
  Prepared p = prepare(c, type);
  if (p.outcome.verdict != Verdict::pass) return p.outcome;
  const std::vector<int32_t> tokens = random_tokens(p.graph, 22);
  std::vector<std::vector<float>> answers;
  for (const auto& order : {blocks_in_order(kBlocks), shuffled_blocks(kBlocks, 5)}) {
    StepMaker maker(kBlockTokens, kSequenceBlocks, order);
    if (auto status = play(*p.run, maker, tokens); !status)
      return Outcome::failed(status.error().message);
    answers.push_back(p.run->last());
  }
  if (c.session().batch_invariant() && answers[0] != answers[1])
    return Outcome::failed("scattered blocks give other bits than blocks in order");
  return p.run->outcome();
}

Outcome exports(OperatorCase& c, halogen_type type) {
  Prepared p = prepare(c, type);
  if (p.outcome.verdict != Verdict::pass) return p.outcome;
  StepMaker maker(kBlockTokens, kSequenceBlocks, shuffled_blocks(kBlocks, 6));
  if (auto status = play(*p.run, maker, random_tokens(p.graph, 22)); !status)
    return Outcome::failed(status.error().message);
  for (uint32_t b = 0; b < 3; b++) {
    const uint32_t block = maker.blocks(0)[b];
    auto bytes = p.run->exported(block);
    if (!bytes) return Outcome::failed(bytes.error().message);
    if (const std::string wrong = p.run->difference(block, *bytes); !wrong.empty())
      return Outcome::failed("the exported block is not in the canonical layout: " + wrong);
  }
  return p.run->outcome();
}

// What one pool exports another imports, and the sequence goes on there.
Outcome moves(OperatorCase& c, halogen_type type) {
  Prepared p = prepare(c, type);
  if (p.outcome.verdict != Verdict::pass) return p.outcome;
  StepMaker maker(kBlockTokens, kSequenceBlocks, blocks_in_order(kBlocks));
  if (auto status = play(*p.run, maker, random_tokens(p.graph, 22)); !status)
    return Outcome::failed(status.error().message);
  ProgramSizes sizes = c.sizes();
  sizes.block_tokens = kBlockTokens;
  sizes.blocks = kBlocks;
  sizes.max_context = kBlockTokens * kSequenceBlocks;
  sizes.set_kv_type(type);
  KvRun other(c, p.graph, sizes);
  if (auto created = other.create(); !created) return Outcome::failed(created.error().message);
  StepMaker there(kBlockTokens, kSequenceBlocks, shuffled_blocks(kBlocks, 7));
  for (uint32_t b = 0; b < 3; b++) {
    auto bytes = p.run->exported(maker.blocks(0)[b]);
    if (!bytes) return Outcome::failed(bytes.error().message);
    if (auto status = other.import(there.blocks(0)[b], *bytes); !status)
      return Outcome::failed(status.error().message);
    other.move_reference(p.run->cache(), maker.blocks(0)[b], there.blocks(0)[b]);
    auto back = other.exported(there.blocks(0)[b]);
    if (!back) return Outcome::failed(back.error().message);
    if (*back != *bytes) return Outcome::failed("a block that was imported is exported otherwise");
  }
  there.rewind(0, 22);
  const std::vector<Piece> next = {{0, random_tokens(p.graph, 4)}};
  if (auto status = other.step("after the move", there.next(next)); !status)
    return Outcome::failed(status.error().message);
  if (auto status = p.run->step("in the old pool", maker.next(next)); !status)
    return Outcome::failed(status.error().message);
  if (c.session().batch_invariant() && other.last() != p.run->last())
    return Outcome::failed("the sequence goes on with other bits than in the old pool");
  return other.outcome();
}

Outcome copies(OperatorCase& c, halogen_type type) {
  Prepared p = prepare(c, type);
  if (p.outcome.verdict != Verdict::pass) return p.outcome;
  StepMaker maker(kBlockTokens, kSequenceBlocks, shuffled_blocks(kBlocks, 8));
  if (auto status = play(*p.run, maker, random_tokens(p.graph, 22)); !status)
    return Outcome::failed(status.error().message);
  const uint32_t *from = maker.blocks(0), *to = maker.blocks(2);
  if (auto status = p.run->copy({from[0], from[1], from[2]}, {to[0], to[1], to[2]}); !status)
    return Outcome::failed(status.error().message);
  maker.rewind(2, 22);
  // The two go different ways in the same step.
  if (auto status = p.run->step(
          "copy", maker.next({{0, random_tokens(p.graph, 3)}, {2, random_tokens(p.graph, 3)}}));
      !status)
    return Outcome::failed(status.error().message);
  return p.run->outcome();
}

// Two sequences whose tables begin with the same blocks, as a prefix cache makes them.
Outcome shares(OperatorCase& c, halogen_type type) {
  Prepared p = prepare(c, type);
  if (p.outcome.verdict != Verdict::pass) return p.outcome;
  std::vector<uint32_t> order = blocks_in_order(kBlocks);
  std::copy_n(order.begin(), 2, order.begin() + kSequenceBlocks);
  StepMaker maker(kBlockTokens, kSequenceBlocks, order);
  const std::vector<int32_t> prefix = random_tokens(p.graph, 2 * kBlockTokens);
  if (auto status = p.run->step("prefix", maker.next({{0, prefix}})); !status)
    return Outcome::failed(status.error().message);
  maker.rewind(1, 2 * kBlockTokens);
  if (auto status = p.run->step(
          "both", maker.next({{0, random_tokens(p.graph, 5)}, {1, random_tokens(p.graph, 9)}}));
      !status)
    return Outcome::failed(status.error().message);
  return p.run->outcome();
}

// A pool full of numbers that are none: whoever reads a slot that was not stored shows it.
Outcome ignores_rubbish(OperatorCase& c, halogen_type type) {
  Prepared p = prepare(c, type);
  if (p.outcome.verdict != Verdict::pass) return p.outcome;
  const std::vector<uint8_t> rubbish(p.run->block_bytes(), 0xff);
  for (uint32_t block = 0; block < kBlocks; block++)
    if (auto status = p.run->import(block, rubbish); !status)
      return Outcome::failed(status.error().message);
  StepMaker maker(kBlockTokens, kSequenceBlocks, shuffled_blocks(kBlocks, 9));
  if (auto status = play(*p.run, maker, random_tokens(p.graph, 22)); !status)
    return Outcome::failed(status.error().message);
  return p.run->outcome();
}

Outcome refuses(OperatorCase& c) {
  Prepared p = prepare(c, HALOGEN_F32);
  if (p.outcome.verdict != Verdict::pass) return p.outcome;
  const halogen_backend_factory& factory = c.session().factory();
  halogen_kv* kv = p.run->program().kv();
  std::vector<uint8_t> bytes(p.run->block_bytes() + 1);
  Findings findings;
  const auto expect = [&](const char* what, auto call) {
    halogen_error error = no_error();
    const halogen_status status = call(&error);
    findings.expect(status != HALOGEN_OK, std::string(what) + " is accepted");
    findings.expect(status == HALOGEN_OK || error.message[0] != '\0',
                    std::string(what) + " is refused without a message");
    call(nullptr);  // the error may be null
  };
  const uint32_t inside = 0, outside = kBlocks;
  expect("kv_copy from a block outside the pool",
         [&](halogen_error* error) { return factory.kv_copy(kv, &outside, &inside, 1, error); });
  expect("kv_copy to a block outside the pool",
         [&](halogen_error* error) { return factory.kv_copy(kv, &inside, &outside, 1, error); });
  expect("kv_export of a block outside the pool", [&](halogen_error* error) {
    return factory.kv_export(kv, outside, bytes.data(), bytes.size() - 1, error);
  });
  expect("kv_import of more bytes than a block has", [&](halogen_error* error) {
    return factory.kv_import(kv, inside, bytes.data(), bytes.size(), error);
  });
  expect("kv_export of fewer bytes than a block has", [&](halogen_error* error) {
    return factory.kv_export(kv, inside, bytes.data(), 8, error);
  });
  return findings.outcome();
}

}  // namespace

void add_kv_cases(CaseList& cases) {
  for (const auto& [type, name] :
       {std::pair(HALOGEN_F32, "F32"), std::pair(HALOGEN_F16, "F16"),
        std::pair(HALOGEN_Q8_0, "Q8_0"), std::pair(HALOGEN_Q4_0, "Q4_0")}) {
    const auto add = [&](const char* what, auto body) {
      cases.add(std::string("kv/") + what + "/" + name, true,
                [body, type](OperatorCase& c) { return body(c, type); });
    };
    add("scattered", scattered);
    add("export", exports);
    add("move-to-another-pool", moves);
    add("copy", copies);
    add("shared-prefix", shares);
    add("rubbish-in-unused-slots", ignores_rubbish);
  }
  cases.add("kv/refuses/what-is-outside", true, refuses);
}

}  // namespace halogen::check
