// Requests that begin alike: what is computed once, what each of them is told, and that every
// stream is what it would be alone.
#include "served.h"

namespace halogen::fake {
namespace {

std::vector<int32_t> counting(int32_t from, int32_t count) {
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; i++) tokens[static_cast<size_t>(i)] = (from + i) % 50;
  return tokens;
}

// Runs it to its end, and checks what came.
GenerationEvent run(Served& served, const GenerationRequest& request) {
  const uint64_t id = served.submit(request);
  served.run();
  EXPECT_EQ(served.stream(id).tokens, expected_tokens(request, 50));
  return served.stream(id).last;
}

TEST(EnginePrefix, ARepeatedPromptIsComputedOnceButForItsLastToken) {
  Served served;
  EXPECT_EQ(run(served, request_of(counting(0, 30), 5)).cached_tokens, 0U);
  EXPECT_EQ(run(served, request_of(counting(0, 30), 5)).cached_tokens, 29U);
  served.run_until_idle();
  const EngineStats stats = served.engine().stats();
  EXPECT_EQ(stats.cache_queried_tokens, 60U);
  EXPECT_EQ(stats.cache_hit_tokens, 29U);
  EXPECT_EQ(stats.prompt_tokens, 31U);
  // The second one computed its last prompt token and four of the five that it generated.
  served.stop();
  EXPECT_EQ(served.device().tokens, 30U + 4 + 1 + 4);
}

TEST(EnginePrefix, TheNextTurnGoesOnBehindTheLastAnswer) {
  Served served;
  std::vector<int32_t> conversation = counting(0, 9);
  for (int turn = 0; turn < 8; turn++) {
    const GenerationRequest request = request_of(conversation, 7);
    const GenerationEvent last = run(served, request);
    // All but what the user says anew, and the answer's last token, which was never computed.
    EXPECT_EQ(last.cached_tokens, turn == 0 ? 0 : conversation.size() - 6);
    const std::vector<int32_t> answer = expected_tokens(request, 50);
    conversation.insert(conversation.end(), answer.begin(), answer.end());
    for (int32_t i = 0; i < 5; i++) conversation.push_back(turn + i);
  }
  served.stop();
  EXPECT_EQ(served.device().copies, 0U);
}

TEST(EnginePrefix, ARequestSharesWithOneThatStillRuns) {
  Served served(small_limits(), Served::in_step_with_loop);
  const GenerationRequest first = request_of(counting(0, 30), 60),
                          second = request_of(counting(0, 30), 9);
  uint64_t b = 0;
  const uint64_t a = served.submit(first);
  served.on_event = [&](const GenerationEvent& event) {
    if (b == 0 && event.generated_tokens >= 2) b = served.submit(second);
  };
  served.run_until([&] { return b != 0 && served.stream(a).ended && served.stream(b).ended; });
  EXPECT_EQ(served.stream(a).tokens, expected_tokens(first, 50));
  EXPECT_EQ(served.stream(b).tokens, expected_tokens(second, 50));
  EXPECT_EQ(served.stream(b).last.cached_tokens, 29U);
}

TEST(EnginePrefix, ABurstWithOneBeginningComputesItOnce) {
  Served served(small_limits(), Served::held_until_run);
  std::map<uint64_t, GenerationRequest> requests;
  for (int32_t i = 0; i < 6; i++) {
    std::vector<int32_t> prompt = counting(0, 60);
    prompt.push_back(i);
    const GenerationRequest request = request_of(prompt, 1);
    requests[served.submit(request)] = request;
  }
  served.run();
  for (const auto& [id, request] : requests)
    EXPECT_EQ(served.stream(id).tokens, expected_tokens(request, 50));
  served.stop();
  EXPECT_EQ(served.device().tokens, 61U + 5);
}

// What an API makes of n = 4.
void expect_choices_to_share(bool prefix_cache, bool cache_prompt) {
  EngineLimits limits = small_limits();
  limits.prefix_cache = prefix_cache;
  Served served(limits, Served::held_until_run);
  std::map<uint64_t, GenerationRequest> requests;
  for (uint64_t i = 0, first = 0; i < 4; i++) {
    GenerationRequest request = request_of(counting(0, 22), 6, i);
    request.cache_prompt = cache_prompt;
    request.shares_with = first;
    const uint64_t id = served.submit(request);
    if (i == 0) first = id;
    requests[id] = request;
  }
  served.run();
  for (const auto& [id, request] : requests)
    EXPECT_EQ(served.stream(id).tokens, expected_tokens(request, 50));
  served.run_until_idle();
  EXPECT_EQ(served.engine().stats().blocks_cached > 0, prefix_cache && cache_prompt);
  served.stop();
  EXPECT_EQ(served.device().tokens, 22U + 3 + 4 * 5);
  EXPECT_EQ(served.device().copies, 3U);
}

TEST(EnginePrefix, ChoicesOfOnePromptComputeItOnce) {
  expect_choices_to_share(true, true);
}

TEST(EnginePrefix, ChoicesShareAlsoWhereNobodyElseDoes) {
  expect_choices_to_share(false, true);
  expect_choices_to_share(true, false);
}

TEST(EnginePrefix, SwitchedOffEveryRequestComputesItsPrompt) {
  EngineLimits limits = small_limits();
  limits.prefix_cache = false;
  Served served(limits);
  run(served, request_of(counting(0, 30), 5));
  EXPECT_EQ(run(served, request_of(counting(0, 30), 5)).cached_tokens, 0U);
  served.run_until_idle();
  EXPECT_EQ(served.engine().stats().blocks_cached, 0U);
}

TEST(EnginePrefix, ARequestMayKeepOut) {
  Served served;
  GenerationRequest request = request_of(counting(0, 30), 5);
  run(served, request);
  request.cache_prompt = false;
  EXPECT_EQ(run(served, request).cached_tokens, 0U);
  request.cache_prompt = true;
  EXPECT_EQ(run(served, request).cached_tokens, 29U);
}

TEST(EnginePrefix, RecurrentStatesAreNotInBlocksSoNothingIsShared) {
  halogen_states* const some = reinterpret_cast<halogen_states*>(&run);
  Served served(small_limits(), [&](EngineParts& parts, Served&) { parts.states = some; });
  run(served, request_of(counting(0, 30), 5));
  EXPECT_EQ(run(served, request_of(counting(0, 30), 5)).cached_tokens, 0U);
}

TEST(EnginePrefix, APreemptedRequestGoesOnFromWhatIsLeftOfIt) {
  EngineLimits limits = small_limits();
  limits.total_blocks = 20;  // 80 positions for two sequences of 60
  Served served(limits, Served::held_until_run);
  const GenerationRequest first = request_of(counting(0, 10), 50, 1),
                          second = request_of(counting(20, 10), 50, 2);
  const uint64_t a = served.submit(first), b = served.submit(second);
  served.run();
  EXPECT_EQ(served.stream(a).tokens, expected_tokens(first, 50));
  EXPECT_EQ(served.stream(b).tokens, expected_tokens(second, 50));
  EXPECT_GT(served.engine().stats().preemptions, 0U);
  EXPECT_EQ(served.stream(b).last.cached_tokens, 0U);  // nobody had computed its prompt before
  EXPECT_GT(served.engine().stats().cache_hit_tokens, 0U);
}

TEST(EnginePrefix, ASpilledRequestComputesNothingAgain) {
  EngineLimits limits = small_limits();
  limits.total_blocks = 20;
  limits.host_blocks = 20;
  Served served(limits, [](EngineParts& parts, Served& self) {
    Served::held_until_run(parts, self);
    Served::spilling(parts, self);
  });
  const GenerationRequest first = request_of(counting(0, 10), 50, 1),
                          second = request_of(counting(20, 10), 50, 2);
  const uint64_t a = served.submit(first), b = served.submit(second);
  served.run();
  EXPECT_EQ(served.stream(a).tokens, expected_tokens(first, 50));
  EXPECT_EQ(served.stream(b).tokens, expected_tokens(second, 50));
  EXPECT_GT(served.engine().stats().preemptions, 0U);
  served.stop();
  EXPECT_EQ(served.device().tokens, 2U * (10 + 49));
}

TEST(EnginePrefix, AfterAFailedStepNothingIsTakenFromTheCache) {
  int steps = 0;
  Served served(small_limits(), [&](EngineParts&, Served& self) {
    self.device().before_step = [&](const halogen_step&) {
      if (++steps == 6) self.device().submit_status = HALOGEN_E_DEVICE_LOST;
    };
  });
  run(served, request_of(counting(0, 30), 5));
  const uint64_t failed = served.submit(request_of(counting(0, 30), 5));
  served.run();
  EXPECT_EQ(served.stream(failed).last.finish, FinishReason::error);
  EXPECT_EQ(run(served, request_of(counting(0, 30), 5)).cached_tokens, 0U);
}

}  // namespace
}  // namespace halogen::fake
