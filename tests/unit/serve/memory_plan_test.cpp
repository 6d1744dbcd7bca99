#include "core/serve/memory_plan.h"

#include <gtest/gtest.h>

namespace halogen {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

MemoryInputs inputs() {
  MemoryInputs in;
  in.pool_size = ByteSize::percent_hundredths(8500);
  in.machine_bytes = 100 * kGiB;
  in.weight_bytes = 20 * kGiB;
  in.program_bytes = kGiB;
  in.block_bytes = uint64_t{1} << 20;
  in.block_tokens = 16;
  in.context = 8192;
  in.max_sequences = 1000;
  return in;
}

TEST(MemoryPlan, AShareLeavesRoomForTheWeights) {
  // 85 GiB minus 20 of weights and 1 of working memory, in blocks of 1 MiB.
  EXPECT_EQ(*plan_kv_blocks(inputs()), 64U * 1024);
}

TEST(MemoryPlan, IsNoLargerThanTheRequestsCanUse) {
  MemoryInputs in = inputs();
  in.max_sequences = 3;
  EXPECT_EQ(*plan_kv_blocks(in), 3U * 8192 / 16);
}

TEST(MemoryPlan, TakesAnAbsoluteSizeAsItIs) {
  MemoryInputs in = inputs();
  in.pool_size = ByteSize::bytes(10 * kGiB);
  EXPECT_EQ(*plan_kv_blocks(in), 10U * 1024);
}

TEST(MemoryPlan, RefusesAPoolThatDoesNotFitBesideTheWeights) {
  MemoryInputs in = inputs();
  in.pool_size = ByteSize::bytes(80 * kGiB);
  const auto blocks = plan_kv_blocks(in);
  ASSERT_FALSE(blocks.ok());
  EXPECT_EQ(blocks.error().status, HALOGEN_E_NO_MEMORY);
  EXPECT_EQ(blocks.error().message,
            "a KV pool of 80.0 GiB does not fit: 79.0 GiB are left beside 20.0 GiB of weights and "
            "1.0 GiB of "
            "working memory, of 100.0 GiB in all; set a smaller kv.pool_size");
}

TEST(MemoryPlan, RefusesAContextThatNoSequenceCouldUse) {
  MemoryInputs in = inputs();
  in.context = 2'000'000;
  const auto blocks = plan_kv_blocks(in);
  ASSERT_FALSE(blocks.ok());
  EXPECT_EQ(blocks.error().message,
            "a context of 2000000 tokens needs 122.1 GiB of KV pool, but the pool can have 64.0 "
            "GiB beside 20.0 "
            "GiB of weights and 1.0 GiB of working memory, of 100.0 GiB in all, which holds "
            "1048576 tokens; set a "
            "smaller engine.context (--context) or a larger kv.pool_size");
}

TEST(MemoryPlan, WeightsLargerThanTheMachineAreRefused) {
  MemoryInputs in = inputs();
  in.weight_bytes = 200 * kGiB;
  EXPECT_FALSE(plan_kv_blocks(in).ok());
}

TEST(MemoryPlan, TheSecondTierIsTakenOffAShareOfTheMemory) {
  MemoryInputs in = inputs();
  in.host_pool_bytes = 4 * kGiB;
  EXPECT_EQ(*plan_host_blocks(in), 4U * 1024);
  EXPECT_EQ(*plan_kv_blocks(in), 60U * 1024);
}

TEST(MemoryPlan, NoSecondTierIsNoBlocks) {
  EXPECT_EQ(*plan_host_blocks(inputs()), 0U);
}

TEST(MemoryPlan, RefusesASecondTierThatDoesNotFitBesideTheWeights) {
  MemoryInputs in = inputs();
  in.host_pool_bytes = 80 * kGiB;
  const auto blocks = plan_host_blocks(in);
  ASSERT_FALSE(blocks.ok());
  EXPECT_EQ(blocks.error().status, HALOGEN_E_NO_MEMORY);
  EXPECT_EQ(blocks.error().message,
            "a second KV tier of 80.0 GiB does not fit: 79.0 GiB are left beside 20.0 GiB of "
            "weights and 1.0 GiB of working memory, of 100.0 GiB in all; set a smaller "
            "kv.host_pool_size");
}

TEST(MemoryPlan, RefusesAPoolThatDoesNotFitBesideTheSecondTier) {
  MemoryInputs in = inputs();
  in.pool_size = ByteSize::bytes(10 * kGiB);
  in.host_pool_bytes = 70 * kGiB;
  const auto blocks = plan_kv_blocks(in);
  ASSERT_FALSE(blocks.ok());
  EXPECT_EQ(blocks.error().message,
            "a KV pool of 10.0 GiB does not fit: 9.0 GiB are left beside 20.0 GiB of weights, "
            "70.0 GiB of second tier and 1.0 GiB of working memory, of 100.0 GiB in all; set a "
            "smaller kv.pool_size");
}

TEST(MemoryPlan, RefusesASecondTierThatHoldsNoBlock) {
  MemoryInputs in = inputs();
  in.host_pool_bytes = 1000;
  const auto blocks = plan_host_blocks(in);
  ASSERT_FALSE(blocks.ok());
  EXPECT_EQ(blocks.error().message,
            "a second KV tier of 1000 B holds no block, which takes 1.0 MiB; set "
            "kv.host_pool_size to more, or to 0");
}

}  // namespace
}  // namespace halogen
