// A sequence's numbers depend on nothing but the sequence: bit for bit the same alone, in a batch,
// in chunks, in any kernel's row of tokens, and on any number of threads.
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "tests/models/golden.h"
#include "tests/models/model_runner.h"

namespace halogen::test {
namespace {

using Logits = std::vector<std::vector<float>>;

class Invariance : public testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  void SetUp() override {
    const auto [file, instructions] = GetParam();
    path_ = std::string("gguf/") + file;
    if (!have_data(path_)) GTEST_SKIP() << path_ << " is missing";
    runner_ =
        ModelRunner::load(data_path(path_), {.cache_type = "f16", .instructions = instructions});
    ASSERT_TRUE(runner_);
  }
  std::vector<int32_t> random_tokens(size_t count) {
    std::uniform_int_distribution<int32_t> token(
        0, static_cast<int32_t>(runner_->vocabulary_size()) - 1);
    std::vector<int32_t> tokens(count);
    for (int32_t& id : tokens) id = token(random_);
    return tokens;
  }

  std::string path_;
  std::unique_ptr<ModelRunner> runner_;
  std::mt19937 random_{7};
};

TEST_P(Invariance, ChunksDoNotMatter) {
  const std::vector<int32_t> tokens = random_tokens(90);
  const Logits whole = runner_->logits(tokens);
  runner_->reset(0);
  size_t at = 0;
  for (const size_t size : {1, 2, 7, 16, 3, 1, 33, 5, 22}) {
    const std::vector<int32_t> chunk(tokens.begin() + static_cast<ptrdiff_t>(at),
                                     tokens.begin() + static_cast<ptrdiff_t>(at + size));
    const Logits part = runner_->step({{0, chunk}});
    for (size_t i = 0; i < size; i++) ASSERT_EQ(part[i], whole[at + i]) << "token " << at + i;
    at += size;
  }
  ASSERT_EQ(at, tokens.size());
}

// From the file, from the copy, and while one replaces the other.
TEST_P(Invariance, WhereTheWeightsAreDoesNotMatter) {
  const auto load = [&](const char* weight_copy) {
    return ModelRunner::load(
        data_path(path_),
        {.cache_type = "f16", .instructions = std::get<1>(GetParam()), .weight_copy = weight_copy});
  };
  const auto pending = [](const ModelRunner& runner) {
    const EngineParts& parts = runner.model().parts();
    halogen_counters counters{};
    counters.struct_size = sizeof counters;
    parts.backend->counters(parts.program, &counters);
    return counters.pending_weight_bytes;
  };
  const std::vector<int32_t> tokens = random_tokens(60);
  const auto in_file = load("off");
  ASSERT_TRUE(in_file);
  EXPECT_EQ(pending(*in_file), 0U);
  const Logits expected = in_file->logits(tokens);
  const auto copied = load("first");
  ASSERT_TRUE(copied);
  EXPECT_EQ(pending(*copied), 0U);
  EXPECT_EQ(copied->logits(tokens), expected);

  const auto changing = load("behind");
  ASSERT_TRUE(changing);
  for (bool copying = true; copying;) {
    copying = pending(*changing) > 0;
    changing->reset(0);
    for (size_t i = 0; i < tokens.size(); i++)
      ASSERT_EQ(changing->step({{0, {tokens[i]}}})[0], expected[i]) << "token " << i;
  }
}

TEST_P(Invariance, TheBatchDoesNotMatter) {
  const std::vector<int32_t> prompt = random_tokens(37), next = random_tokens(6);
  runner_->reset(0);
  Logits alone = runner_->step({{0, prompt}});
  for (const int32_t token : next) alone.push_back(runner_->step({{0, {token}}})[0]);

  // The same again as sequence 3, among others that come and go and have prompts of their own.
  for (size_t s = 0; s < ModelRunner::kSequences; s++) runner_->reset(s);
  const std::vector<int32_t> first = random_tokens(5), second = random_tokens(20);
  Logits mixed = runner_->step({{1, first}, {3, prompt}, {2, second}});
  Logits ours(mixed.begin() + 5, mixed.begin() + 42);
  for (size_t i = 0; i < next.size(); i++) {
    const std::vector<int32_t> other = random_tokens(i * 3 + 1), more = random_tokens(1);
    mixed = runner_->step(
        {{2, more}, {3, {next[i]}}, {static_cast<uint32_t>(4 + i % 4), other}, {1, more}});
    ours.push_back(mixed[1]);
  }
  ASSERT_EQ(ours.size(), alone.size());
  for (size_t i = 0; i < ours.size(); i++) ASSERT_EQ(ours[i], alone[i]) << "token " << i;
}

// Long enough for several chunks of the flash way, which threads share.
class LongContext : public testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  void SetUp() override {
    if (!have_data(path_)) GTEST_SKIP() << path_ << " is missing";
  }
  std::unique_ptr<ModelRunner> load(uint32_t threads) {
    const auto [type, flash] = GetParam();
    return ModelRunner::load(data_path(path_), {.cache_type = type,
                                                .context = 1024,
                                                .batch_tokens = 1024,
                                                .threads = threads,
                                                .flash = flash});
  }
  std::vector<int32_t> random_tokens(size_t count) {
    std::vector<int32_t> tokens(count);
    for (int32_t& id : tokens) id = static_cast<int32_t>(random_() % 1000);
    return tokens;
  }

  const std::string path_ = "gguf/qwen2-tiny-f32.gguf";
  std::mt19937 random_{11};
};

TEST_P(LongContext, ThreadsChunksAndTheBatchDoNotMatter) {
  const auto alone = load(1), shared = load(3);
  ASSERT_TRUE(alone && shared);
  const std::vector<int32_t> tokens = random_tokens(700);
  const Logits whole = alone->logits(tokens);
  size_t at = 0;
  for (const size_t size : {1, 299, 1, 7, 64, 2, 250, 1, 1, 73, 1}) {
    const std::vector<int32_t> chunk(tokens.begin() + static_cast<ptrdiff_t>(at),
                                     tokens.begin() + static_cast<ptrdiff_t>(at + size));
    const std::vector<int32_t> other = random_tokens(size % 5 + 1);
    const Logits part = shared->step({{2, other}, {0, chunk}, {1, random_tokens(1)}});
    for (size_t i = 0; i < size; i++)
      ASSERT_EQ(part[other.size() + i], whole[at + i]) << "token " << at + i;
    at += size;
  }
  ASSERT_EQ(at, tokens.size());
}

INSTANTIATE_TEST_SUITE_P(, LongContext,
                         testing::Combine(testing::Values("f16", "q8_0", "q4_0/f16"),
                                          testing::Values("on", "off")));

// Both routes give the same numbers to rounding, in bits of their own, as soon as they are chosen.
TEST(AttentionRoute, ChangesBetweenSteps) {
  const std::string path = "gguf/qwen2-tiny-f32.gguf";
  if (!have_data(path)) GTEST_SKIP() << path << " is missing";
  const auto runner = ModelRunner::load(data_path(path), {.flash = "off"});
  ASSERT_TRUE(runner);
  std::vector<int32_t> tokens(500);
  std::iota(tokens.begin(), tokens.end(), 3);
  const Logits plain = runner->logits(tokens);
  const auto chosen = [&](FlashAttention flash, uint32_t threshold) {
    const Status status = runner->model().change_attention({flash, threshold});
    EXPECT_TRUE(status.ok()) << status.error().message;
    return runner->logits(tokens);
  };
  const Logits flash = chosen(FlashAttention::forced, 4096);
  EXPECT_EQ(flash[255], plain[255]);  // one chunk is a plain row
  EXPECT_NE(flash[499], plain[499]);
  for (size_t i = 0; i < plain[499].size(); i++) EXPECT_NEAR(flash[499][i], plain[499][i], 1e-4);
  const Logits at_the_last = chosen(FlashAttention::automatic, 500);
  EXPECT_EQ(at_the_last[498], plain[498]);
  EXPECT_NE(at_the_last[499], plain[499]);
  EXPECT_EQ(chosen(FlashAttention::automatic, 501), plain);
  EXPECT_EQ(chosen(FlashAttention::forbidden, 0), plain);
}

INSTANTIATE_TEST_SUITE_P(
    , Invariance,
    testing::Combine(testing::Values("qwen2-tiny-f32.gguf", "qwen2-tiny-bf16.gguf",
                                     "qwen2-tiny-Q4_0.gguf", "qwen2-tiny-Q5_1.gguf",
                                     "qwen2-tiny-Q2_K.gguf", "qwen2-tiny-Q4_K_M.gguf",
                                     "qwen2-tiny-IQ4_XS.gguf", "qwen2-tiny-MXFP4.gguf",
                                     "llama-tiny-Q4_K_M.gguf"),
                     testing::Values("portable", "auto")));

}  // namespace
}  // namespace halogen::test
