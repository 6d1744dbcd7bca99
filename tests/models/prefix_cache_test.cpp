// What comes from the prefix cache or the second tier is, bit for bit, what would have been
// computed: the same tokens with the same log-probabilities.
#include <memory>
#include <random>

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/engine/engine.h"
#include "core/loop/loop.h"
#include "tests/models/edited_gguf.h"
#include "tests/models/golden.h"
#include "tests/models/model_runner.h"

namespace halogen::test {
namespace {

struct Answer {
  std::vector<int32_t> tokens;
  std::vector<float> logprobs;
  std::vector<float> top_logprobs;
  uint32_t cached_tokens = 0;
  bool operator==(const Answer& other) const {
    return tokens == other.tokens && logprobs == other.logprobs &&
           top_logprobs == other.top_logprobs;
  }
};

// An engine over a loaded model. One at a time: they share the model's KV pool.
class Served {
 public:
  Served(const ServedModel& model, const EngineLimits& limits) {
    loop_ = std::move(*Loop::create());
    auto engine = Engine::start(*loop_, model.parts(), limits);
    EXPECT_TRUE(engine) << engine.error().message;
    engine_ = std::move(*engine);
  }

  std::vector<Answer> ask(const std::vector<std::vector<int32_t>>& prompts, uint32_t tokens) {
    std::vector<Answer> answers(prompts.size());
    size_t unfinished = prompts.size();
    for (size_t i = 0; i < prompts.size(); i++) {
      GenerationRequest request;
      request.prompt = prompts[i];
      request.max_tokens = tokens;
      request.ignore_eos = true;
      request.top_logprobs = 3;
      request.sampling.seed = 5;
      auto id = engine_->submit(std::move(request), [&, i](const GenerationEvent& event) {
        Answer& answer = answers[i];
        answer.tokens.insert(answer.tokens.end(), event.tokens.begin(), event.tokens.end());
        answer.logprobs.insert(answer.logprobs.end(), event.logprobs.begin(), event.logprobs.end());
        for (const TokenLogprob& top : event.top_logprobs)
          answer.top_logprobs.push_back(top.logprob);
        answer.cached_tokens = event.cached_tokens;
        EXPECT_EQ(event.error, "");
        if (event.finish != FinishReason::none && --unfinished == 0) loop_->stop();
      });
      EXPECT_TRUE(id) << id.error().message;
    }
    loop_->run();
    return answers;
  }
  Answer ask(const std::vector<int32_t>& prompt, uint32_t tokens) {
    return ask(std::vector<std::vector<int32_t>>{prompt}, tokens)[0];
  }
  EngineStats stats() const { return engine_->stats(); }

 private:
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<Engine> engine_;
};

std::vector<int32_t> random_tokens(std::mt19937& random, size_t count, uint32_t vocabulary) {
  std::vector<int32_t> tokens(count);
  for (int32_t& token : tokens) token = static_cast<int32_t>(random() % vocabulary);
  return tokens;
}

void append(std::vector<int32_t>& text, const std::vector<int32_t>& more) {
  text.insert(text.end(), more.begin(), more.end());
}

class PrefixCacheOnModels : public testing::TestWithParam<std::tuple<const char*, uint32_t>> {
 protected:
  void SetUp() override {
    const auto [file, block_tokens] = GetParam();
    std::string path = std::string("gguf/") + file;
    if (!have_data(path)) GTEST_SKIP() << path << " is missing";
    path = data_path(path);
    if (path.find("mistral") != std::string::npos) {
      // The converter drops its window.
      const std::string edited =
          testing::TempDir() + "prefix-window-" + std::to_string(::getpid()) + ".gguf";
      ASSERT_TRUE(add_metadata_u32(path, "llama.attention.sliding_window", 16, edited));
      path = edited;
    }
    runner_ = ModelRunner::load(path, {.cache_type = "f16",
                                       .context = 512,
                                       .batch_tokens = 64,
                                       .block_tokens = block_tokens,
                                       .host_pool = "16M"});
    ASSERT_TRUE(runner_);
    limits_ = runner_->model().limits();
    limits_.max_sequences = 8;
    without_ = limits_;
    without_.prefix_cache = false;
  }
  std::vector<int32_t> tokens(size_t count) {
    return random_tokens(random_, count, runner_->vocabulary_size());
  }

  std::unique_ptr<ModelRunner> runner_;
  EngineLimits limits_, without_;
  std::mt19937 random_{3};
};

TEST_P(PrefixCacheOnModels, RepeatedAndLongerPromptsAroundABlocksEnd) {
  const uint32_t block = limits_.block_tokens;
  const std::vector<int32_t> text = tokens(4 * block);
  std::vector<std::vector<int32_t>> prompts;
  for (const uint32_t length : {1U, block - 1, block, block + 1, 2 * block, 2 * block + 1,
                                3 * block - 1, 3 * block + block / 2, 4 * block}) {
    prompts.emplace_back(text.begin(), text.begin() + length);
    prompts.push_back(prompts.back());
  }
  std::vector<Answer> expected;
  {
    Served served(runner_->model(), without_);
    for (const auto& prompt : prompts) expected.push_back(served.ask(prompt, block + 2));
    EXPECT_EQ(served.stats().cache_hit_tokens, 0U);
  }
  Served served(runner_->model(), limits_);
  for (size_t i = 0; i < prompts.size(); i++) {
    const Answer answer = served.ask(prompts[i], block + 2);
    EXPECT_EQ(answer, expected[i]) << "prompt of " << prompts[i].size();
    // The second time all of it is there, but for the last token.
    if (i % 2 == 1) {
      EXPECT_EQ(answer.cached_tokens, prompts[i].size() - 1);
    }
  }
}

TEST_P(PrefixCacheOnModels, AConversationOfManyTurns) {
  std::vector<std::vector<int32_t>> turns;
  for (int i = 0; i < 6; i++) turns.push_back(tokens(5 + random_() % 30));
  const auto play = [&](const EngineLimits& limits) {
    Served served(runner_->model(), limits);
    std::vector<Answer> answers;
    std::vector<int32_t> text;
    for (const std::vector<int32_t>& turn : turns) {
      const size_t known = text.size();
      append(text, turn);
      answers.push_back(served.ask(text, 21));
      // Of the last answer all but its last token was computed.
      const size_t cached = limits.prefix_cache && known > 0 ? known - 1 : 0;
      EXPECT_EQ(answers.back().cached_tokens, cached);
      append(text, answers.back().tokens);
    }
    return answers;
  };
  EXPECT_EQ(play(limits_), play(without_));
}

TEST_P(PrefixCacheOnModels, ManyAtOnceOverASmallPoolAndASecondTier) {
  const std::vector<int32_t> system = tokens(50);
  std::vector<std::vector<int32_t>> prompts;
  for (int i = 0; i < 24; i++) {
    std::vector<int32_t> prompt = system;
    prompt.resize(random_() % 51);
    append(prompt, tokens(1 + random_() % 40));
    prompts.push_back(prompt);
  }
  std::vector<Answer> expected;
  {
    Served served(runner_->model(), without_);
    for (const auto& prompt : prompts) expected.push_back(served.ask(prompt, 60));
  }
  for (const uint32_t host_blocks : {0U, limits_.host_blocks}) {
    EngineLimits small = limits_;
    small.total_blocks = 280 / limits_.block_tokens;  // less than two of the longest
    small.host_blocks = host_blocks;
    Served served(runner_->model(), small);
    for (int round = 0; round < 2; round++) EXPECT_EQ(served.ask(prompts, 60), expected);
    const EngineStats stats = served.stats();
    EXPECT_GT(stats.preemptions, 0U);
    EXPECT_GT(stats.cache_hit_tokens, 0U);
    EXPECT_EQ(stats.blocks_used, 0U);
    EXPECT_EQ(stats.blocks_loaded > 0, host_blocks > 0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    , PrefixCacheOnModels,
    testing::Combine(testing::Values("qwen2-tiny-Q4_K_M.gguf", "llama-tiny-Q8_0.gguf",
                                     "qwen3-tiny-bf16.gguf", "mistral-tiny-Q4_0.gguf"),
                     testing::Values(8U, 16U, 32U)));

}  // namespace
}  // namespace halogen::test
