// A small decoder, whole: the numbers of a sequence are the same in any batch, in any pieces and in
// any blocks; to the bit where the backend says so, else within what rounding explains.
#include <algorithm>
#include <cmath>

#include "core/check/backend/operator_cases.h"
#include "core/check/reference/evaluate.h"

namespace halogen::check {
namespace {

using Value = TestGraph::Value;
using Logits = std::vector<std::vector<float>>;  // of each token

constexpr uint32_t kVocabulary = 97, kTokens = 75;
constexpr uint32_t kBlockTokens = 16, kSequenceBlocks = 8, kSequences = 4;

// x · W, brought to about the size of x: random quantised weights can be of any size.
Value product(TestGraph& graph, Value x, halogen_type type, int64_t out, int64_t in) {
  // Types of large blocks cannot hold short rows.
  if (in % halogen_type_find(type)->block_elements != 0) type = HALOGEN_F32;
  const double root = std::sqrt(static_cast<double>(in));
  const Value weight = graph.weight(type, {out, in}, static_cast<float>(1 / root));
  const Value y = graph.builder().linear(x, weight);
  if (halogen_type_find(type)->block_elements == 1) return y;
  return graph.builder().scale(y, static_cast<float>(1 / (root * graph.root_mean_square())));
}

void build(TestGraph& graph, halogen_type type) {
  GraphBuilder& builder = graph.builder();
  const int64_t width = std::max<int64_t>(64, halogen_type_find(type)->block_elements);
  constexpr int64_t kHeads = 4, kKvHeads = 2, kSize = 16;
  const auto normed = [&](Value x) {
    const Value weight = graph.weight(HALOGEN_F32, {width}, 1.0F);
    return builder.rms_norm(x, weight, 1e-5F);
  };
  halogen_rope_attributes rope{};
  rope.pairing = HALOGEN_ROPE_HALVES;
  rope.dims = kSize;
  rope.base = 10000;
  rope.factor = rope.attention_factor = 1;
  const auto heads = [&](Value x, int64_t count, bool turned) {
    const Value split = builder.reshape(product(graph, x, type, count * kSize, width),
                                        {HALOGEN_DIM_TOKENS, count, kSize});
    return turned ? builder.rope(split, builder.positions(), rope) : split;
  };
  Value x = graph.activations(width);
  for (int32_t layer = 0; layer < 2; layer++) {
    builder.set_layer(layer);
    const Value attended = normed(x);
    const Value q = heads(attended, kHeads, true), k = heads(attended, kKvHeads, true),
                v = heads(attended, kKvHeads, false);
    const Value mixed = builder.reshape(builder.attend(q, k, v, {0, 1, 0, 0.25F, 0, 0}),
                                        {HALOGEN_DIM_TOKENS, kHeads * kSize});
    x = builder.add(x, product(graph, mixed, type, width, kHeads * kSize));
    const Value fed = normed(x);
    const Value gate = product(graph, fed, type, width, width);
    const Value up = product(graph, fed, type, width, width);
    x = builder.add(x, product(graph, builder.glu(gate, up, HALOGEN_SILU), type, width, width));
  }
  builder.set_layer(-1);
  const Value last = builder.select_rows(normed(x), builder.rows());
  builder.set_logits(product(graph, last, type, kVocabulary, width));
}

// Worst cases multiply from layer to layer until they say nothing, so that the whole decoder is
// judged by its relative RMS error: several times what the roundings of two layers add up to.
double allowed_error(reference::Precision precision, halogen_type type) {
  if (precision == reference::Precision::f16) return 0.05;
  const bool rounds = halogen_type_find(type)->block_elements > 1;
  // A KV pool of halves makes errors of a ten-thousandth where a K or V is near a border.
  return rounds && precision == reference::Precision::q8 ? 0.1 : 1e-3;
}

class Decoder {
 public:
  Decoder(OperatorCase& c, halogen_type type) : type_(type), graph_(c.graph(64, kVocabulary)) {
    build(graph_, type);
    if (auto finished = graph_.finish(); !finished) {
      outcome_ = Outcome::failed(finished.error().message);
      return;
    }
    outcome_ = supported(c.session(), graph_.graph());
    if (outcome_.verdict != Verdict::pass) return;
    ProgramSizes sizes = c.sizes();
    sizes.block_tokens = kBlockTokens;
    sizes.max_context = kBlockTokens * kSequenceBlocks;
    sizes.blocks = kSequenceBlocks * kSequences;
    sizes.set_kv_type(HALOGEN_F16);
    program_.emplace(c.session(), graph_, sizes);
    if (auto created = program_->create(); !created)
      outcome_ = Outcome::failed(created.error().message);
    tokens_ = random_tokens(graph_, kTokens);
    reference::KvCache cache(program_->geometry());
    StepMaker maker(kBlockTokens, kSequenceBlocks, order_);
    expected_ =
        reference::evaluate(graph_.graph(), graph_.weights(),
                            maker.next({{0, tokens_}}).step(nullptr, nullptr), cache, c.precision())
            .logits;
  }
  // What stands against going on.
  const Outcome& outcome() const { return outcome_; }
  void use_order(std::vector<uint32_t> order) { order_ = std::move(order); }
  halogen_type type() const { return type_; }
  const reference::Tensor& expected() const { return expected_; }

  // The logits of sequence 0 after its tokens, computed in pieces of these sizes; `company` is what
  // else each step has, before it and behind.
  Logits run(const std::vector<uint32_t>& sizes, bool company) {
    StepMaker maker(kBlockTokens, kSequenceBlocks, order_);
    Logits logits;
    size_t at = 0;
    for (size_t i = 0; i < sizes.size() && outcome_.verdict == Verdict::pass; i++) {
      const std::vector<int32_t> ours(tokens_.begin() + static_cast<ptrdiff_t>(at),
                                      tokens_.begin() + static_cast<ptrdiff_t>(at + sizes[i]));
      at += sizes[i];
      std::vector<Piece> pieces;
      if (company) pieces.push_back({1, random_tokens(graph_, 1 + i % 5)});
      pieces.push_back({0, ours});
      if (company && i % 2 == 0) pieces.push_back({2, random_tokens(graph_, 1 + i % 3), false});
      const size_t before = company ? 1 + i % 5 : 0;
      auto rows = program_->run(maker.next(pieces));
      if (!rows) {
        outcome_ = Outcome::failed(rows.error().message);
        break;
      }
      for (size_t row = before; row < before + ours.size(); row++) {
        const auto first = rows->logits.begin() + static_cast<ptrdiff_t>(row * kVocabulary);
        logits.emplace_back(first, first + kVocabulary);
      }
    }
    return logits;
  }

 private:
  halogen_type type_;
  TestGraph& graph_;
  std::optional<TestProgram> program_;
  std::vector<uint32_t> order_ = shuffled_blocks(kSequenceBlocks * kSequences, 11);
  std::vector<int32_t> tokens_;
  reference::Tensor expected_;
  Outcome outcome_;
};

std::vector<float> flat(const Logits& logits) {
  std::vector<float> all;
  for (const auto& row : logits) all.insert(all.end(), row.begin(), row.end());
  return all;
}

Outcome compared(const OperatorCase& c, const Decoder& decoder, const Logits& logits) {
  if (decoder.outcome().verdict != Verdict::pass) return decoder.outcome();
  Comparison comparison;
  comparison.add("logits", decoder.expected(), flat(logits));
  return comparison.within(allowed_error(c.precision(), decoder.type()));
}

// `other` is another way to the same logits.
Outcome same(const OperatorCase& c, const Decoder& decoder, const Logits& whole,
             const Logits& other, const std::string& how) {
  if (decoder.outcome().verdict != Verdict::pass) return decoder.outcome();
  for (size_t t = 0; t < whole.size() && c.session().batch_invariant(); t++) {
    const auto differs = std::mismatch(whole[t].begin(), whole[t].end(), other[t].begin());
    if (differs.first == whole[t].end()) continue;
    char numbers[64];
    std::snprintf(numbers, sizeof numbers, "%.9g and %.9g", *differs.first, *differs.second);
    return Outcome::failed("the logits after token " + std::to_string(t) + " are not the same " +
                           how + ": " + numbers +
                           ", but the backend claims HALOGEN_BACKEND_BATCH_INVARIANT");
  }
  return compared(c, decoder, other);
}

}  // namespace

void add_batch_cases(CaseList& cases) {
  for (const halogen_type type : {HALOGEN_F32, HALOGEN_BF16, HALOGEN_Q8_0, HALOGEN_Q4_0,
                                  HALOGEN_Q4_K, HALOGEN_Q6_K, HALOGEN_IQ4_XS, HALOGEN_MXFP4}) {
    const std::string group = std::string("decoder/") + halogen_type_find(type)->name + "/";
    const bool quick = type == HALOGEN_F32 || type == HALOGEN_Q4_K;
    cases.add(group + "whole", quick, [type](OperatorCase& c) {
      Decoder decoder(c, type);
      return compared(c, decoder, decoder.run({kTokens}, false));
    });
    cases.add(group + "in-pieces", quick, [type](OperatorCase& c) {
      Decoder decoder(c, type);
      const Logits whole = decoder.run({kTokens}, false);
      return same(c, decoder, whole, decoder.run({1, 2, 7, 16, 3, 1, 33, 5, 7}, false),
                  "in pieces");
    });
    cases.add(group + "in-company", quick, [type](OperatorCase& c) {
      Decoder decoder(c, type);
      const Logits whole = decoder.run({kTokens}, false);
      return same(c, decoder, whole, decoder.run({40, 1, 1, 1, 1, 1, 1, 1, 28}, true),
                  "beside other sequences");
    });
    cases.add(group + "in-other-blocks", false, [type](OperatorCase& c) {
      Decoder decoder(c, type);
      const Logits whole = decoder.run({kTokens}, false);
      decoder.use_order(blocks_in_order(kSequenceBlocks * kSequences));
      return same(c, decoder, whole, decoder.run({kTokens}, false), "in other blocks");
    });
  }
}

}  // namespace halogen::check
