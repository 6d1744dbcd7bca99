// What a request gets: its tokens, its text, and how it ends.
#include <cmath>
#include <numeric>

#include "served.h"

namespace halogen::fake {
namespace {

std::vector<int32_t> counting(size_t n) {
  std::vector<int32_t> tokens(n);
  for (size_t i = 0; i < n; i++) tokens[i] = static_cast<int32_t>(i * 7 % 49);
  return tokens;
}

TEST(Engine, GeneratesWhatModelAndSamplerGive) {
  Served served;
  const GenerationRequest request = request_of({1, 2, 3}, 40);
  const uint64_t id = served.submit(request);
  served.run();
  const Stream& stream = served.stream(id);
  EXPECT_EQ(stream.tokens, expected_tokens(request, 50));
  EXPECT_EQ(stream.text, letters(stream.tokens));
  EXPECT_EQ(stream.last.finish, FinishReason::length);
  EXPECT_EQ(stream.last.prompt_tokens, 3U);
  EXPECT_EQ(stream.last.generated_tokens, 40U);
  EXPECT_EQ(stream.last.error, "");
}

TEST(Engine, APromptInChunksGivesWhatOneInOnePieceGives) {
  EngineLimits limits = small_limits();
  for (uint32_t chunk : {1U, 3U, 5U, 64U}) {
    limits.prefill_batch_tokens = chunk;
    Served served(limits);
    const GenerationRequest request = request_of(counting(41), 20);
    const uint64_t id = served.submit(request);
    served.run();
    EXPECT_EQ(served.stream(id).tokens, expected_tokens(request, 50)) << "chunks of " << chunk;
    served.stop();
    EXPECT_EQ(served.device().steps, (41 + chunk - 1) / chunk + 19);
  }
}

TEST(Engine, ALongPromptAndDecodesShareSteps) {
  EngineLimits limits = small_limits();
  limits.prefill_batch_tokens = 4;
  Served served(limits, Served::held_until_run);
  const GenerationRequest brief = request_of({1}, 10), lengthy = request_of(counting(60), 2);
  const uint64_t a = served.submit(brief), b = served.submit(lengthy);
  served.run();
  EXPECT_EQ(served.stream(a).tokens, expected_tokens(brief, 50));
  EXPECT_EQ(served.stream(b).tokens, expected_tokens(lengthy, 50));
  served.stop();
  // The brief prompt takes the first step, the long one four tokens in each of the next 15, and
  // its second token the last. All decodes of the brief request hide among these.
  EXPECT_EQ(served.device().steps, 17U);
}

TEST(Engine, APreemptedRequestGoesOnAsIfNothingHadHappened) {
  EngineLimits limits = small_limits();
  limits.total_blocks = 12;  // 48 positions for two requests of 40
  Served served(limits, Served::held_until_run);
  GenerationRequest first = request_of({1, 2, 3, 4}, 36, 5),
                    second = request_of({5, 6, 7, 8}, 36, 6);
  second.sampling.frequency_penalty = 0.5F;
  const uint64_t a = served.submit(first), b = served.submit(second);
  served.run();
  EXPECT_GT(served.engine().stats().preemptions, 0U);
  EXPECT_EQ(served.stream(a).tokens, expected_tokens(first, 50));
  EXPECT_EQ(served.stream(b).tokens, expected_tokens(second, 50));
  EXPECT_EQ(served.stream(b).text, letters(served.stream(b).tokens));
}

TEST(Engine, EndsAtAnEndOfGenerationTokenUnlessTold) {
  const GenerationRequest request = request_of({3}, 100, 4);
  const std::vector<int32_t> all = expected_tokens(request, 50);
  const auto end = std::find(all.begin(), all.end(), kEndToken);
  ASSERT_NE(end, all.end());
  ASSERT_GT(end - all.begin(), 2);

  Served served;
  GenerationRequest heeding = request;
  heeding.ignore_eos = false;
  const uint64_t a = served.submit(heeding), b = served.submit(request);
  served.run();
  EXPECT_EQ(served.stream(a).tokens, std::vector<int32_t>(all.begin(), end + 1));
  EXPECT_EQ(served.stream(a).text, letters({all.begin(), end}));  // the end token adds no text
  EXPECT_EQ(served.stream(a).last.finish, FinishReason::stop);
  EXPECT_EQ(served.stream(b).tokens, all);
  EXPECT_EQ(served.stream(b).last.finish, FinishReason::length);
}

TEST(Engine, DoesNotEndBeforeItsLeastTokens) {
  Served served;
  GenerationRequest request = request_of({7, 7, 7}, 30);
  request.ignore_eos = false;
  request.sampling.logit_bias = {{kEndToken, 100}};
  request.min_tokens = 11;
  const uint64_t id = served.submit(request);
  request.min_tokens = 0;
  const uint64_t other = served.submit(request);  // in the same steps
  served.run();
  const std::vector<int32_t>& tokens = served.stream(id).tokens;
  EXPECT_EQ(served.stream(id).last.finish, FinishReason::stop);
  EXPECT_EQ(std::find(tokens.begin(), tokens.end(), kEndToken) - tokens.begin(), 11);
  EXPECT_EQ(served.stream(other).tokens, std::vector<int32_t>{kEndToken});
}

TEST(Engine, WhereEndTokensAreOrdinaryMinTokensDoesNotBanThem) {
  Served served;
  GenerationRequest request = request_of({7, 7, 7}, 4);
  request.sampling.logit_bias = {{kEndToken, 100}};
  request.min_tokens = 4;
  const uint64_t id = served.submit(request);
  served.run();
  EXPECT_EQ(served.stream(id).tokens, (std::vector<int32_t>(4, kEndToken)));
}

TEST(Engine, SequenceBreakersReachTheSampler) {
  const std::vector<int32_t> breaker = {2, 3, -1};
  Served served;
  GenerationRequest request = request_of({1, 2, 3, 4, 1, 2, 3}, 1);
  request.sampling.temperature = 0;
  request.sampling.logit_bias = {{4, 30}};
  request.sampling.dry_multiplier = 100;
  const uint64_t without = served.submit(request);
  request.sampling.dry_breakers = std::make_shared<const std::vector<int32_t>>(breaker);
  const uint64_t with = served.submit(request);
  served.run();
  EXPECT_NE(served.stream(without).tokens, std::vector<int32_t>{4});
  EXPECT_EQ(served.stream(with).tokens, std::vector<int32_t>{4});
}

TEST(Engine, EndsBeforeAStopString) {
  GenerationRequest request = request_of({9, 9}, 60);
  const std::vector<int32_t> all = expected_tokens(request, 50);
  const std::string text = letters(all);
  request.stop = {"~", text.substr(20, 3)};
  const size_t at = text.find(request.stop[1]);
  Served served;
  const uint64_t id = served.submit(request);
  served.run();
  EXPECT_EQ(served.stream(id).text, text.substr(0, at));
  EXPECT_EQ(served.stream(id).tokens.size(), at + 3);
  EXPECT_EQ(served.stream(id).last.finish, FinishReason::stop);
}

TEST(Engine, TextHeldBackForAStopStringComesAtTheEnd) {
  GenerationRequest request = request_of({9, 9}, 10);
  request.stop = {"~~~~~~~~"};
  Served served;
  const uint64_t id = served.submit(request);
  served.run();
  EXPECT_EQ(served.stream(id).text, letters(expected_tokens(request, 50)));
}

TEST(Engine, WithoutALimitTheContextIsTheLimit) {
  Served served;
  GenerationRequest request = request_of(counting(100), 0);
  const uint64_t id = served.submit(request);
  served.run();
  request.max_tokens = 28;
  EXPECT_EQ(served.stream(id).tokens, expected_tokens(request, 50));
  EXPECT_EQ(served.stream(id).last.finish, FinishReason::length);
}

TEST(Engine, LogprobsComeWithEachToken) {
  Served served;
  GenerationRequest request = request_of({4, 2}, 12);
  request.top_logprobs = 3;
  request.sampling.temperature = 0.7F;
  const uint64_t id = served.submit(request);
  served.run();
  const Stream& stream = served.stream(id);
  ASSERT_EQ(stream.logprobs.size(), 12U);
  ASSERT_EQ(stream.top_logprobs.size(), 36U);
  std::vector<int32_t> context = request.prompt;
  for (size_t i = 0; i < 12; i++) {
    const std::vector<float> logits = model_logits(context, 50);
    const double sum = std::accumulate(logits.begin(), logits.end(), 0.0,
                                       [](double s, float x) { return s + std::exp(double{x}); });
    const auto token = static_cast<size_t>(stream.tokens[i]);
    EXPECT_NEAR(stream.logprobs[i], logits[token] - std::log(sum), 1e-5);
    const auto best = std::max_element(logits.begin(), logits.end());
    EXPECT_EQ(stream.top_logprobs[3 * i].token, best - logits.begin());
    EXPECT_NEAR(stream.top_logprobs[3 * i].logprob, *best - std::log(sum), 1e-5);
    EXPECT_GE(stream.top_logprobs[3 * i + 1].logprob, stream.top_logprobs[3 * i + 2].logprob);
    context.push_back(stream.tokens[i]);
  }
}

TEST(Engine, EventsComeInOrderAndTheirTotalsGrow) {
  Served served;
  const uint64_t id = served.submit(request_of({1}, 30));
  size_t tokens = 0;
  served.on_event = [&](const GenerationEvent& event) {
    EXPECT_FALSE(event.tokens.empty());
    tokens += event.tokens.size();
    EXPECT_EQ(event.generated_tokens, tokens);
    EXPECT_EQ(event.prompt_tokens, 1U);
    EXPECT_EQ(event.finish == FinishReason::length, tokens == 30);
  };
  served.run();
  EXPECT_EQ(tokens, 30U);
  EXPECT_TRUE(served.stream(id).ended);
}

TEST(Engine, TimingsAddUpToTheRequestsLife) {
  Served served(small_limits(), [](EngineParts&, Served& self) {
    self.device().after_step = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  });
  const auto submitted = std::chrono::steady_clock::now();
  const uint64_t id = served.submit(request_of({1, 2}, 10));
  served.run();
  const auto life = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - submitted);
  const GenerationEvent& last = served.stream(id).last;
  EXPECT_GE(last.prefill_us, 2000U);
  EXPECT_GE(last.decode_us, 9 * 2000U);
  EXPECT_LE(last.queued_us + last.prefill_us + last.decode_us, static_cast<uint64_t>(life.count()));
}

TEST(Engine, CountsWhatItDid) {
  Served served;
  served.submit(request_of({1, 2}, 10));
  served.submit(request_of({3, 4, 5}, 5));
  served.run();
  served.run_until_idle();
  const EngineStats stats = served.engine().stats();
  EXPECT_EQ(stats.requests_finished, 2U);
  EXPECT_EQ(stats.requests_waiting, 0U);
  EXPECT_EQ(stats.prompt_tokens, 5U);
  EXPECT_EQ(stats.generated_tokens, 15U);
  EXPECT_GE(stats.steps, 10U);
  EXPECT_EQ(stats.blocks_total, 64U);
  EXPECT_GT(stats.last_progress_us, 0U);
  EXPECT_TRUE(stats.healthy);
}

TEST(Engine, AHandlerMaySubmitTheNextRequest) {
  Served served;
  int rounds = 0;
  served.on_event = [&](const GenerationEvent& event) {
    if (event.finish != FinishReason::none && ++rounds < 20) served.submit(request_of({7}, 3));
  };
  served.submit(request_of({7}, 3));
  served.run();
  EXPECT_EQ(served.streams().size(), 20U);
}

}  // namespace
}  // namespace halogen::fake
