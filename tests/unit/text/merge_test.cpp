#include "core/text/merge.h"

#include <algorithm>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace halogen::text {
namespace {

std::vector<std::pair<TokenId, uint32_t>> merged(const MergeTable& table,
                                                 const std::vector<TokenId>& word,
                                                 uint32_t window = 512) {
  Merger merger(table, window);
  merger.begin();
  for (const TokenId id : word) merger.push(id);
  std::vector<std::pair<TokenId, uint32_t>> symbols;
  merger.merge([&](TokenId id, uint32_t first) { symbols.emplace_back(id, first); });
  return symbols;
}

// The definition: look at all neighbours, join the best, start over.
std::vector<std::pair<TokenId, uint32_t>> merged_by_definition(const MergeTable& table,
                                                               const std::vector<TokenId>& word) {
  std::vector<std::pair<TokenId, uint32_t>> symbols;
  for (size_t i = 0; i < word.size(); ++i) symbols.emplace_back(word[i], i);
  while (true) {
    size_t best = symbols.size();
    Merge best_merge;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const Merge merge = table.find(symbols[i].first, symbols[i + 1].first);
      if (merge.result == kNoToken) continue;
      if (best == symbols.size() || merge.rank < best_merge.rank) {
        best = i;
        best_merge = merge;
      }
    }
    if (best == symbols.size()) return symbols;
    symbols[best].first = best_merge.result;
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

TEST(Merge, FollowsTheDefinitionWithDistinctAndWithEqualRanks) {
  std::mt19937 random(1);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  for (int round = 0; round < 500; ++round) {
    const uint32_t symbols = 2 + below(4);
    const uint32_t ranks = round % 2 == 0 ? 1000000 : 3;
    MergeTable table(60);
    TokenId next = static_cast<TokenId>(symbols);
    for (int i = 0; i < 60; ++i) {
      const auto known = static_cast<uint32_t>(next);
      const auto left = static_cast<TokenId>(below(known));
      const auto right = static_cast<TokenId>(below(known));
      if (table.find(left, right).result == kNoToken)
        table.add(left, right, {below(ranks), next++});
    }
    std::vector<TokenId> word(below(40));
    for (TokenId& id : word) id = static_cast<TokenId>(below(symbols + 1)) - 1;  // -1: no symbol
    EXPECT_EQ(merged(table, word), merged_by_definition(table, word));
  }
}

// Small windows put a seam between any two symbols; the merges are those of real vocabularies, of
// many ranks or few, sensible or not.
TEST(Merge, ByWindowsFollowsTheDefinitionToo) {
  std::mt19937 random(2);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  for (int round = 0; round < 2000; ++round) {
    const uint32_t letters = 1 + below(3);
    const uint32_t merges = 1 + below(40);
    const uint32_t ranks = round % 3 == 0 ? 2 : 1000;
    const bool ordered = round % 3 == 1;  // a merge comes after those that make its parts
    MergeTable table(merges);
    auto next = static_cast<TokenId>(letters);
    for (uint32_t i = 0; i < merges; ++i) {
      const auto left = static_cast<TokenId>(below(static_cast<uint32_t>(next)));
      const auto right = static_cast<TokenId>(below(static_cast<uint32_t>(next)));
      if (table.find(left, right).result != kNoToken) continue;
      table.add(left, right, {ordered ? i : below(ranks), next++});
    }
    std::vector<TokenId> word(below(60));
    for (TokenId& id : word) id = static_cast<TokenId>(below(letters + 1 + below(2))) - 1;
    for (TokenId& id : word) id = below(8) == 0 ? id : std::max(id, 0);
    const auto expected = merged_by_definition(table, word);
    for (const uint32_t window : {1U, 2U, 3U, 5U, 8U}) {
      EXPECT_EQ(merged(table, word, window), expected) << "window " << window;
    }
  }
}

// All words of up to eight letters of two, for all orders of four merges that build upon each
// other.
TEST(Merge, ByWindowsFollowsTheDefinitionForEveryShortWord) {
  const std::pair<TokenId, TokenId> pairs[] = {{0, 0}, {0, 1}, {2, 1}, {3, 2}};
  std::vector<uint32_t> ranks = {0, 1, 2, 3};
  do {
    MergeTable table(4);
    for (size_t i = 0; i < 4; ++i) {
      table.add(pairs[i].first, pairs[i].second, {ranks[i], static_cast<TokenId>(2 + i)});
    }
    for (uint32_t length = 0; length <= 8; ++length) {
      for (uint32_t letters = 0; letters < 1U << length; ++letters) {
        std::vector<TokenId> word;
        for (uint32_t i = 0; i < length; ++i) word.push_back(letters >> i & 1U ? 1 : 0);
        EXPECT_EQ(merged(table, word, 2), merged_by_definition(table, word));
      }
    }
  } while (std::ranges::next_permutation(ranks).found);
}

TEST(Merge, KeepsTheFirstOfTwoMergesOfOnePair) {
  MergeTable table(2);
  table.add(0, 1, {5, 2});
  table.add(0, 1, {3, 4});
  EXPECT_EQ(table.find(0, 1).result, 2);
  EXPECT_EQ(table.find(0, 1).rank, 5U);
  EXPECT_EQ(table.find(1, 0).result, kNoToken);
}

TEST(Merge, AnEmptyTableMergesNothing) {
  const MergeTable table;
  const std::vector<std::pair<TokenId, uint32_t>> expected = {{0, 0}, {0, 1}};
  EXPECT_EQ(merged(table, {0, 0}), expected);
  EXPECT_TRUE(merged(table, {}).empty());
}

}  // namespace
}  // namespace halogen::text
