// Requests that are refused, each with a message that says why.
#include <numeric>

#include "served.h"

namespace halogen::fake {
namespace {

Error refusal(Served& served, GenerationRequest request) {
  auto id = served.engine().submit(std::move(request), [](const GenerationEvent&) {
    ADD_FAILURE() << "a refused request gets no event";
  });
  EXPECT_FALSE(id);
  return id ? Error{} : id.error();
}

TEST(EngineLimits, WhatCannotFitTheContextIsRefused) {
  Served served;
  const Error error = refusal(served, request_of(std::vector<int32_t>(100, 1), 29));
  EXPECT_EQ(error.status, HALOGEN_E_INVALID);
  EXPECT_EQ(error.message,
            "the prompt has 100 tokens and 29 are to be generated, but the context holds 128; "
            "shorten the prompt or lower max_tokens");
  refusal(served, request_of(std::vector<int32_t>(128, 1), 0));
}

TEST(EngineLimits, WhatCannotFitThePoolIsRefused) {
  EngineLimits limits = small_limits();
  limits.total_blocks = 5;
  Served served(limits);
  EXPECT_EQ(refusal(served, request_of({1}, 20)).message,
            "the prompt has 1 tokens and 20 are to be generated, but the KV pool holds 20; "
            "shorten the prompt or lower max_tokens");
  const GenerationRequest fits = request_of({1}, 19);
  const uint64_t id = served.submit(fits);
  served.run();
  EXPECT_EQ(served.stream(id).tokens, expected_tokens(fits, 50));
}

TEST(EngineLimits, BadPromptsAreRefused) {
  Served served;
  EXPECT_EQ(refusal(served, request_of({}, 1)).message,
            "the prompt has no tokens; send at least one");
  EXPECT_EQ(refusal(served, request_of({3, 50}, 1)).message,
            "token 1 of the prompt is 50; ids go from 0 to 49");
  EXPECT_EQ(refusal(served, request_of({-1}, 1)).message,
            "token 0 of the prompt is -1; ids go from 0 to 49");
}

TEST(EngineLimits, BadSamplingIsRefusedWithTheSamplersWords) {
  Served served;
  GenerationRequest request = request_of({1}, 1);
  request.sampling.top_p = 2;
  EXPECT_EQ(refusal(served, request).message, "top_p is 2; it must be from 0 to 1");
  request = request_of({1}, 1);
  request.sampling.logit_bias = {{60, 1}};
  EXPECT_EQ(refusal(served, request).message, "logit_bias names token 60; the vocabulary has 50");
  request = request_of({1}, 1);
  request.sampling.mirostat = 1;
  EXPECT_EQ(refusal(served, request).message,
            "mirostat 1 is not supported; mirostat 2 aims at the same surprise");
  request = request_of({1}, 3);
  request.min_tokens = 4;
  EXPECT_EQ(refusal(served, request).message,
            "min_tokens is 4, but at most 3 tokens are to be generated");
  request = request_of({1}, 1);
  request.top_logprobs = 21;
  EXPECT_EQ(refusal(served, request).message, "top_logprobs is 21; it may be 0 to 20");
}

TEST(EngineLimits, BeyondTheQueueTheServerIsBusy) {
  EngineLimits limits = small_limits();
  limits.max_sequences = 1;
  limits.queue_limit = 2;
  Served served(limits);
  for (int i = 0; i < 3; i++) served.submit(request_of({1}, 5));
  const Error error = refusal(served, request_of({1}, 5));
  EXPECT_EQ(error.status, HALOGEN_E_BUSY);
  EXPECT_EQ(error.message, "the queue is full: 3 requests are unfinished; try again later");
  served.run();
  served.submit(request_of({1}, 5));  // there is room again
  served.run();
  served.stop();
  EXPECT_EQ(served.device().most_sequences, 1U);
}

TEST(EngineLimits, StepsStayWithinTheirBudgets) {
  EngineLimits limits = small_limits();
  limits.max_batch_tokens = 12;
  limits.prefill_batch_tokens = 10;
  limits.max_sequences = 4;
  Served served(limits);
  for (int i = 0; i < 12; i++) served.submit(request_of(std::vector<int32_t>(15, i), 10));
  served.run();
  served.stop();
  EXPECT_EQ(served.device().most_sequences, 4U);
  EXPECT_LE(served.device().most_tokens, 12U);
  EXPECT_GE(served.device().most_tokens, 10U);
}

TEST(EngineLimits, AnEngineThatCannotWorkDoesNotStart) {
  auto loop = Loop::create();
  ASSERT_TRUE(loop);
  EngineLimits limits = small_limits();
  limits.max_batch_tokens = 0;
  auto engine = start_engine(**loop, EngineParts(), limits, std::make_unique<Text>(kEndToken));
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().message, "the engine cannot work with max_batch_tokens = 0");
}

// What Retry-After is made of: here every step takes 2 ms at least.
TEST(EngineLimits, TheServiceOfLastRequestsIsMeasured) {
  Served served(small_limits(), [](EngineParts&, Served& self) {
    self.device().before_step = [](const halogen_step&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    };
  });
  EXPECT_EQ(served.engine().stats().mean_service_us, 0U);
  served.submit(request_of({1, 2, 3}, 5));
  served.run();
  EXPECT_GE(served.engine().stats().mean_service_us, 5U * 2000);
}

}  // namespace
}  // namespace halogen::fake
