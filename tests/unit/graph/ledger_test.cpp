#include "core/graph/ledger.h"

#include <gtest/gtest.h>

#include "core/graph/graph.h"

namespace halogen {
namespace {

constexpr uint32_t kVocabulary = 100, kHidden = 64;

// One layer of attention with 2 heads of 32 over 1 KV head, then the output; the output's matrix is
// the embedding where `tied`. Weights are Q8_0: 34 bytes for 32.
Graph small_graph(bool tied, uint32_t window = 0) {
  GraphBuilder graph(kVocabulary, kHidden);
  const auto table = graph.weight("table", HALOGEN_Q8_0, {kVocabulary, kHidden});
  const auto x = graph.embed(graph.token_ids(), table);
  const auto project = [&](const char* name, halogen_type type, int64_t heads) {
    const auto y = graph.linear(x, graph.weight(name, type, {heads * 32, kHidden}));
    return graph.reshape(y, {HALOGEN_DIM_TOKENS, heads, 32});
  };
  const auto q = project("q", HALOGEN_Q8_0, 2), k = project("k", HALOGEN_Q8_0, 1),
             v = project("v", HALOGEN_F16, 1);
  halogen_attend_attributes attend{};
  attend.causal = 1;
  attend.window = window;
  const auto mixed =
      graph.reshape(graph.attend(q, k, v, attend), {HALOGEN_DIM_TOKENS, int64_t{kHidden}});
  const auto rows = graph.select_rows(mixed, graph.rows());
  const auto output = tied ? table : graph.weight("output", HALOGEN_Q8_0, {kVocabulary, kHidden});
  graph.set_logits(graph.linear(rows, output));
  auto built = graph.finish();
  EXPECT_TRUE(built.ok()) << (built.ok() ? "" : built.error().message);
  return std::move(*built);
}

constexpr uint64_t kRow = 68;  // bytes of 64 weights in Q8_0
constexpr uint64_t kTable = kVocabulary * kRow;
constexpr uint64_t kProjections = (64 + 32) * kRow + 32 * 64 * 2;

Ledger ledger(bool tied, uint32_t window = 0) {
  return {small_graph(tied, window).table(), HALOGEN_F16, HALOGEN_F16};
}

TEST(Ledger, ATableThatIsOnlyLookedUpIsNotRead) {
  EXPECT_EQ(ledger(false).weight_bytes(), 2 * kTable + kProjections);
  EXPECT_EQ(ledger(false).read_weight_bytes(), kTable + kProjections);
}

TEST(Ledger, ATableThatIsAlsoTheOutputIsRead) {
  EXPECT_EQ(ledger(true).weight_bytes(), kTable + kProjections);
  EXPECT_EQ(ledger(true).read_weight_bytes(), kTable + kProjections);
}

TEST(Ledger, ATokenTakesItsKeyAndItsValueInThePool) {
  EXPECT_EQ(ledger(true).kv_token_bytes(), 2U * 32 * 2);
  const Ledger quantised(small_graph(true).table(), HALOGEN_Q8_0, HALOGEN_Q4_0);
  EXPECT_EQ(quantised.kv_token_bytes(), 34U + 18U);
}

TEST(Ledger, AWindowBoundsWhatIsReadButNotWhatIsHeld) {
  EXPECT_EQ(ledger(true, 10).kv_token_bytes(), 128U);
  EXPECT_EQ(ledger(true, 10).kv_read_bytes(7), 7U * 128);
  EXPECT_EQ(ledger(true, 10).kv_read_bytes(50), 10U * 128);
  EXPECT_EQ(ledger(true).kv_read_bytes(50), 50U * 128);
}

TEST(Ledger, AStepReadsTheWeightsOnceAndEachSequencesContext) {
  const StepShare shares[] = {{1, 10, 1}, {1, 20, 1}};
  EXPECT_EQ(ledger(false).step(shares).bytes, kTable + kProjections + 30U * 128 + 2 * kRow);
}

TEST(Ledger, OperationsAreThoseOfTheProducts) {
  const StepShare prompt[] = {{3, 5, 1}};
  const StepCost cost = ledger(true).step(prompt);
  // Three tokens through q and k, one row through the output.
  EXPECT_EQ(cost.quantised_operations, 3U * 2 * 64 * (64 + 32) + 2U * 64 * kVocabulary);
  // v is F16; the three tokens see 3, 4 and 5 positions, with 2 heads of 32 for q·k and for p·v.
  EXPECT_EQ(cost.float_operations, 3U * 2 * 64 * 32 + (3U + 4 + 5) * 2 * 2 * (32 + 32));
}

TEST(Ledger, AWindowBoundsTheOperationsOfAttention) {
  const StepShare prompt[] = {{3, 5, 0}};
  EXPECT_EQ(ledger(true, 4).step(prompt).float_operations,
            3U * 2 * 64 * 32 + (3U + 4 + 4) * 2 * 2 * (32 + 32));
}

}  // namespace
}  // namespace halogen
