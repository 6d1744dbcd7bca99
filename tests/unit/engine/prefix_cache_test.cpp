// Blocks are found by exactly their texts, and go in the order in which they were let go.
#include "core/engine/prefix_cache.h"

#include <array>

#include <gtest/gtest.h>

namespace halogen {
namespace {

constexpr uint32_t kNone = PrefixCache::kNone;
using Tokens = std::array<int32_t, 4>;

constexpr Tokens kFirst = {1, 2, 3, 4}, kSecond = {5, 6, 7, 8}, kOther = {5, 6, 7, 9};

class PrefixCaches : public testing::Test {
 protected:
  // Of a block behind `parent`, with hashes that collide wherever the parents are the same.
  static PrefixCache::Key colliding(std::span<const int32_t> tokens, uint32_t parent = kNone,
                                    uint64_t root = 0) {
    return {parent, root, parent == kNone ? 7U : 8U, 8, tokens};
  }

  PrefixCache cache_{8, 4};
};

TEST_F(PrefixCaches, FindABlockByItsTokens) {
  EXPECT_EQ(cache_.find(colliding(kFirst)), kNone);
  const uint32_t entry = cache_.insert(colliding(kFirst), 3);
  EXPECT_EQ(cache_.find(colliding(kFirst)), entry);
  EXPECT_EQ(cache_.block(entry), 3U);
}

TEST_F(PrefixCaches, DoNotTakeACollisionForTheSameText) {
  const uint32_t entry = cache_.insert(colliding(kSecond), 3);
  EXPECT_EQ(cache_.find(colliding(kOther)), kNone);
  const uint32_t other = cache_.insert(colliding(kOther), 4);
  EXPECT_EQ(cache_.find(colliding(kSecond)), entry);
  EXPECT_EQ(cache_.find(colliding(kOther)), other);
}

TEST_F(PrefixCaches, DoNotTakeTheSameTokensBehindAnotherTextForTheSame) {
  const uint32_t first = cache_.insert(colliding(kFirst), 0);
  const uint32_t other = cache_.insert(colliding(kOther), 1);
  const uint32_t behind = cache_.insert(colliding(kSecond, first), 2);
  EXPECT_EQ(cache_.find(colliding(kSecond, first)), behind);
  EXPECT_EQ(cache_.find(colliding(kSecond, other)), kNone);
  EXPECT_EQ(cache_.closest(colliding(kSecond, other)).tokens, 0U);
}

TEST_F(PrefixCaches, DoNotMixRoots) {
  cache_.insert(colliding(kFirst, kNone, 1), 0);
  EXPECT_EQ(cache_.find(colliding(kFirst, kNone, 2)), kNone);
  EXPECT_EQ(cache_.closest(colliding(kFirst, kNone, 2)).tokens, 0U);
}

TEST_F(PrefixCaches, HashesTellTokensBeginningsModelsAndRootsApart) {
  const uint64_t root = hash_root(1, 0);
  EXPECT_NE(hash_block(root, kFirst), hash_block(root, kSecond));
  EXPECT_NE(hash_block(hash_block(root, kFirst), kSecond), hash_block(root, kSecond));
  EXPECT_NE(hash_root(1, 0), hash_root(2, 0));
  EXPECT_NE(hash_root(1, 0), hash_root(1, 1));
}

TEST_F(PrefixCaches, FindTheLongestCommonBeginning) {
  const Tokens wanted = {5, 6, 7, 7};
  cache_.insert(colliding(std::span(kSecond).first(2)), 0);
  const uint32_t best = cache_.insert(colliding(kSecond), 1);
  cache_.insert(colliding(kFirst), 2);
  EXPECT_EQ(cache_.closest(colliding(wanted)).entry, best);
  EXPECT_EQ(cache_.closest(colliding(wanted)).tokens, 3U);
  EXPECT_EQ(cache_.closest(colliding(std::span(wanted).first(1))).tokens, 1U);
}

TEST_F(PrefixCaches, ABlockIsFoundWholeOnceItIsFull) {
  const uint32_t entry = cache_.insert(colliding(std::span(kFirst).first(3)), 0);
  EXPECT_EQ(cache_.find(colliding(kFirst)), kNone);
  EXPECT_EQ(cache_.findable_count(), 0U);
  cache_.extend(entry, kFirst, 8);
  EXPECT_EQ(cache_.find(colliding(kFirst)), entry);
  EXPECT_EQ(cache_.findable_count(), 1U);
}

TEST_F(PrefixCaches, ARemovedBlockIsNotFoundAndItsReferencesAreDead) {
  const uint32_t entry = cache_.insert(colliding(kFirst), 0);
  const CachedBlock reference = cache_.reference(entry);
  EXPECT_TRUE(cache_.is_alive(reference));
  cache_.remove(entry);
  EXPECT_EQ(cache_.find(colliding(kFirst)), kNone);
  EXPECT_EQ(cache_.closest(colliding(kFirst)).entry, kNone);
  EXPECT_EQ(cache_.insert(colliding(kSecond), 0), entry);
  EXPECT_FALSE(cache_.is_alive(reference));
}

TEST_F(PrefixCaches, TheFirstLetGoIsTheOldest) {
  const uint32_t a = cache_.insert(colliding(kFirst), 0), b = cache_.insert(colliding(kSecond), 1),
                 c = cache_.insert(colliding(kOther), 2);
  for (const uint32_t entry : {a, b, c}) cache_.let_go(entry);
  EXPECT_EQ(cache_.oldest_in_pool(), a);
  cache_.hold(a);
  EXPECT_EQ(cache_.oldest_in_pool(), b);
  cache_.let_go(a);
  cache_.hold(c);
  EXPECT_EQ(cache_.idle_in_pool(), 2U);
  EXPECT_EQ(cache_.fault(), nullptr);
  cache_.remove(b);
  EXPECT_EQ(cache_.oldest_in_pool(), a);
}

TEST_F(PrefixCaches, AnEntryMovesBetweenTheTiers) {
  const uint32_t entry = cache_.insert(colliding(kFirst), 5);
  cache_.move_to_tier(entry, 2);
  cache_.let_go(entry);
  EXPECT_FALSE(cache_.is_in_pool(entry));
  EXPECT_EQ(cache_.slot(entry), 2U);
  EXPECT_EQ(cache_.oldest_in_tier(), entry);
  EXPECT_EQ(cache_.oldest_in_pool(), kNone);
  EXPECT_EQ(cache_.find(colliding(kFirst)), entry);
  cache_.hold(entry);
  cache_.move_to_pool(entry, 6);
  EXPECT_EQ(cache_.block(entry), 6U);
  EXPECT_EQ(cache_.oldest_in_tier(), kNone);
  EXPECT_EQ(cache_.fault(), nullptr);
}

}  // namespace
}  // namespace halogen
