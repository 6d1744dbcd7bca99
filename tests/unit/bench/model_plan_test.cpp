#include "core/bench/model_plan.h"

#include <gtest/gtest.h>

#include "core/graph/graph.h"

namespace halogen::bench {
namespace {

constexpr int64_t kHidden = 5120, kRows = 6'875'000;
constexpr double kGB = 1e9;

// As Qwen2.5-32B in Q4_K_M in what a plan depends on: 64 layers with 8 KV heads of 128, and 19.8 GB
// of weights. A row of 5120 in Q4_K has 2880 bytes, so that is 6,875,000 rows; they stand in one
// matrix here.
ModelNeeds needs(uint32_t window_of_odd_layers = 0) {
  GraphBuilder graph(kRows, kHidden);
  const auto rows = graph.weight("all", HALOGEN_Q4_K, {kRows, kHidden});
  const auto x = graph.embed(graph.token_ids(), rows);
  auto heads = graph.reshape(x, {HALOGEN_DIM_TOKENS, 40, 128});
  const auto keys = graph.reshape(graph.split(x, 0, 1024), {HALOGEN_DIM_TOKENS, 8, 128});
  for (int layer = 0; layer < 64; layer++) {
    halogen_attend_attributes attend{};
    attend.causal = 1;
    if (layer % 2 == 1) attend.window = window_of_odd_layers;
    heads = graph.attend(heads, keys, keys, attend);
  }
  const auto wanted = graph.select_rows(x, graph.rows());
  graph.set_logits(graph.linear(wanted, rows));
  auto built = graph.finish();
  EXPECT_TRUE(built.ok()) << (built.ok() ? "" : built.error().message);

  ModelNeeds needs{{}, std::move(*built), {}, {}, {}, "cpu"};
  needs.hyperparameters.architecture = "qwen2";
  needs.hyperparameters.layers = 64;
  needs.limits.max_context = 32768;
  needs.limits.max_sequences = 16;
  needs.limits.block_tokens = 16;
  needs.geometry = {sizeof(halogen_kv_geometry), 16, HALOGEN_F16, HALOGEN_F16};
  needs.memory.pool_size = ByteSize::percent_hundredths(10000);
  needs.memory.weight_bytes = 19'800'000'000;
  needs.memory.program_bytes = 200'000'000;
  needs.memory.block_bytes = uint64_t{262'144} * 16;
  needs.memory.block_tokens = 16;
  needs.memory.context = 32768;
  needs.memory.max_sequences = 16;
  return needs;
}

const ModelPlan::Cache& cache(const ModelPlan& plan, const std::string& type) {
  for (const ModelPlan::Cache& one : plan.caches) {
    if (one.type == type) return one;
  }
  ADD_FAILURE() << type << " is not planned";
  return plan.caches.front();
}

TEST(ModelPlan, AStreamIsNoFasterThanTheWeightsCanBeRead) {
  // 256 GB/s over 19.8 GB.
  const ModelPlan plan = plan_model(needs(), {uint64_t{128} << 30, 256 * kGB});
  EXPECT_EQ(plan.weight_bytes, 19'800'000'000U);
  EXPECT_NEAR(plan.ceiling(), 12.93, 0.005);
}

TEST(ModelPlan, ATokenTakesTwoTimesLayersTimesHeadsTimesDimensionsTimesBytes) {
  const ModelPlan plan = plan_model(needs(), {uint64_t{128} << 30, 256 * kGB});
  EXPECT_EQ(plan.cache_type, "f16");
  EXPECT_EQ(cache(plan, "f16").token_bytes, 2U * 64 * 8 * 128 * 2);
  EXPECT_EQ(cache(plan, "f32").token_bytes, 2U * 64 * 8 * 128 * 4);
  EXPECT_EQ(cache(plan, "q8_0").token_bytes, 2U * 64 * 8 * 128 / 32 * 34);
  EXPECT_EQ(cache(plan, "q4_0").token_bytes, 2U * 64 * 8 * 128 / 32 * 18);
}

TEST(ModelPlan, KeysAndValuesOfDifferentTypesArePlannedAsTheProfileHasThem) {
  ModelNeeds mixed = needs();
  mixed.geometry.key_type = HALOGEN_Q8_0;
  mixed.geometry.value_type = HALOGEN_Q4_0;
  const ModelPlan plan = plan_model(mixed, {uint64_t{128} << 30, 256 * kGB});
  EXPECT_EQ(plan.cache_type, "q8_0 and q4_0");
  EXPECT_EQ(cache(plan, plan.cache_type).token_bytes, 64U * 8 * 128 / 32 * (34 + 18));
}

TEST(ModelPlan, ContextsThatFitArePoolOverTheirBytes) {
  // 40 GB less weights and working memory: 20 GB, 4768 blocks of 16 tokens of 262,144 bytes.
  const ModelPlan plan = plan_model(needs(), {40'000'000'000, 256 * kGB});
  const ModelPlan::Cache& f16 = cache(plan, "f16");
  EXPECT_EQ(f16.pool_tokens, 4768U * 16);
  ASSERT_EQ(f16.lengths.size(), 5U);  // 2048 to 32768
  EXPECT_EQ(f16.lengths[0].context, 2048U);
  EXPECT_EQ(f16.lengths[0].streams, 37U);  // of 128 blocks
  EXPECT_EQ(f16.lengths[4].context, 32768U);
  EXPECT_EQ(f16.lengths[4].streams, 2U);
}

TEST(ModelPlan, ALongContextIsReadForEveryToken) {
  const ModelPlan plan = plan_model(needs(), {40'000'000'000, 256 * kGB});
  const ModelPlan::Length& longest = cache(plan, "f16").lengths[4];
  // 32,768 tokens of 262,144 bytes are 8.59 GB beside 19.8 GB of weights.
  EXPECT_NEAR(longest.one_stream, 256 / (19.8 + 8.59), 0.005);
  EXPECT_EQ(longest.together, 2U);
  EXPECT_NEAR(longest.all_streams, 2 * 256 / (19.8 + 2 * 8.59), 0.005);
}

TEST(ModelPlan, LayersWithAWindowHoldAllAndReadTheWindow) {
  const ModelPlan plan = plan_model(needs(1024), {40'000'000'000, 256 * kGB});
  EXPECT_EQ(plan.windowed_layers, 32U);
  EXPECT_EQ(cache(plan, "f16").token_bytes, 262'144U);
  // Half of the layers read 32,768 tokens, the others 1024.
  EXPECT_NEAR(cache(plan, "f16").lengths[4].one_stream, 256 / (19.8 + (32768 + 1024) * 131.072e-6),
              0.005);
}

TEST(ModelPlan, StreamsTogetherAreNoMoreThanAreServedAtOnce) {
  const ModelPlan plan = plan_model(needs(), {40'000'000'000, 256 * kGB});
  EXPECT_EQ(cache(plan, "f16").lengths[0].together, 16U);
}

TEST(ModelPlan, WhatDoesNotFitSaysWhy) {
  const ModelPlan plan = plan_model(needs(), {16'000'000'000, 256 * kGB});
  EXPECT_FALSE(plan.fits());
  EXPECT_NE(plan.problem.find("KV pool"), std::string::npos) << plan.problem;
  EXPECT_EQ(cache(plan, "f16").pool_tokens, 0U);
  EXPECT_TRUE(plan_model(needs(), {40'000'000'000, 256 * kGB}).fits());
}

TEST(ModelPlan, WithoutABandwidthNoSpeedIsTold) {
  const std::string text = plan_text(plan_model(needs(), {40'000'000'000, 0}));
  EXPECT_EQ(text.find("tok/s"), std::string::npos) << text;
  EXPECT_EQ(text.find("inf"), std::string::npos) << text;
}

}  // namespace
}  // namespace halogen::bench
