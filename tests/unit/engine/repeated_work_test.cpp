// Who is better off waiting for another request that computes the same beginning.
#include "core/engine/repeated_work.h"

#include <numeric>

#include <gtest/gtest.h>

namespace halogen {
namespace {

constexpr uint32_t kBlock = 4;

// A prompt that counts up, of which `common` tokens are those of every other one.
class Prompt {
 public:
  explicit Prompt(size_t tokens, size_t common, int32_t own = 100) {
    sequence_.tokens.resize(tokens);
    std::iota(sequence_.tokens.begin(), sequence_.tokens.end(), 0);
    for (size_t i = common; i < tokens; i++) sequence_.tokens[i] = own;
    sequence_.block_hashes.push_back(hash_root(0, 0));
    extend_hashes(sequence_, static_cast<uint32_t>(tokens) / kBlock, kBlock);
  }
  PlannedWork work(uint32_t computed, uint32_t tokens) { return {&sequence_, computed, tokens}; }
  Sequence& sequence() { return sequence_; }

 private:
  Sequence sequence_;
};

bool waits(const PlannedWork& later, const PlannedWork& earlier) {
  return is_computed_by_another(later, std::span(&earlier, 1), kBlock);
}

TEST(RepeatedWork, TheSamePromptWaits) {
  Prompt a(10, 10), b(10, 10);
  EXPECT_TRUE(waits(b.work(0, 10), a.work(0, 10)));
}

TEST(RepeatedWork, APromptThatDiffersFromItsBeginningDoesNot) {
  Prompt a(10, 0), b(10, 10);
  EXPECT_FALSE(waits(b.work(0, 10), a.work(0, 10)));
}

TEST(RepeatedWork, HalfOfTheWorkIsWorthATurn) {
  Prompt a(40, 40), half(40, 20), less(40, 19);
  EXPECT_TRUE(waits(half.work(0, 40), a.work(0, 40)));
  EXPECT_FALSE(waits(less.work(0, 40), a.work(0, 40)));
}

TEST(RepeatedWork, OnlyWhatTheOtherComputesInThisStepCounts) {
  Prompt a(40, 40), b(40, 40);
  EXPECT_TRUE(waits(b.work(0, 40), a.work(0, 20)));
  EXPECT_FALSE(waits(b.work(0, 40), a.work(0, 19)));   // 16 can be found then
  EXPECT_FALSE(waits(b.work(0, 40), a.work(20, 20)));  // what it computed before was thrown out
}

TEST(RepeatedWork, OneThatDecodesComputesForNobody) {
  Prompt a(6, 6), b(6, 6);
  a.sequence().running = true;
  a.sequence().computed = 5;
  EXPECT_FALSE(waits(b.work(4, 2), a.work(5, 1)));
}

TEST(RepeatedWork, OtherRootsShareNothing) {
  Prompt a(10, 10), b(10, 10);
  b.sequence().root = 1;
  EXPECT_FALSE(waits(b.work(0, 10), a.work(0, 10)));
}

}  // namespace
}  // namespace halogen
