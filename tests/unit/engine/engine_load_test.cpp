// Many requests at once over a pool too small for them, some of them cancelled, many with the same
// beginnings, with and without a second tier.
#include <random>

#include "served.h"

namespace halogen::fake {
namespace {

std::vector<int32_t> random_tokens(std::mt19937& random, size_t count) {
  std::vector<int32_t> tokens(count);
  for (int32_t& token : tokens) token = static_cast<int32_t>(random() % 50);
  return tokens;
}

// Some of `before`, with its answer, and something new.
std::vector<int32_t> next_turn(const std::vector<int32_t>& before, std::mt19937& random) {
  std::vector<int32_t> prompt = before;
  prompt.resize(std::min<size_t>(prompt.size(), random() % 40));
  const std::vector<int32_t> more = random_tokens(random, 1 + random() % 20);
  prompt.insert(prompt.end(), more.begin(), more.end());
  return prompt;
}

GenerationRequest random_request(std::mt19937& random, std::vector<int32_t> prompt) {
  auto below = [&random](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  GenerationRequest request = request_of(std::move(prompt), 1 + below(40), random());
  request.sampling.temperature = below(3) == 0 ? 0.0F : 0.2F + static_cast<float>(below(10)) / 10;
  if (below(2) == 0) request.sampling.top_k = static_cast<int32_t>(1 + below(20));
  if (below(2) == 0) request.sampling.top_p = 0.9F;
  if (below(3) == 0) request.sampling.repetition_penalty = 1.3F;
  if (below(4) == 0) request.sampling.penalty_window = 8;
  if (below(3) == 0) request.sampling.mirostat = 2;
  if (below(3) == 0) {
    request.sampling.dry_multiplier = 1;
    request.sampling.dry_allowed_length = below(3);
  }
  if (below(3) == 0) {
    request.sampling.xtc_probability = 0.5F;
    request.sampling.typical_p = 0.9F;
    request.sampling.dynatemp_range = 0.1F;
  }
  request.priority = below(8) == 0 ? 1 : 0;
  request.cache_prompt = below(8) != 0;
  return request;
}

class EngineLoad : public testing::TestWithParam<std::tuple<uint32_t, uint32_t, bool>> {};

TEST_P(EngineLoad, EveryStreamIsWhatItWouldBeAlone) {
  const auto [seed, host_blocks, spills] = GetParam();
  std::mt19937 random(seed);
  EngineLimits limits = small_limits();
  limits.total_blocks = 40;  // 160 positions for up to 16 sequences of up to 70
  limits.max_sequences = 16;
  limits.max_batch_tokens = 40;
  limits.prefill_batch_tokens = 24;
  limits.host_blocks = host_blocks;
  Served served(limits, [spills = spills](EngineParts& parts, Served& self) {
    Served::in_step_with_loop(parts, self);
    if (spills) Served::spilling(parts, self);
  });
  std::map<uint64_t, GenerationRequest> requests;
  std::vector<uint64_t> cancelled;
  const auto submit = [&](std::vector<int32_t> prompt) {
    const GenerationRequest request = random_request(random, std::move(prompt));
    requests[served.submit(request)] = request;
  };
  const std::vector<int32_t> system = random_tokens(random, 21);
  for (int i = 0; i < 32; i++) submit(random_tokens(random, 1 + random() % 30));
  for (int i = 0; i < 16; i++) submit(next_turn(system, random));
  served.on_event = [&](const GenerationEvent& event) {
    if (event.finish != FinishReason::none && requests.size() < 96) {
      std::vector<int32_t> text = requests[event.request_id].prompt;
      const std::vector<int32_t>& answer = served.stream(event.request_id).tokens;
      text.insert(text.end(), answer.begin(), answer.end());
      submit(next_turn(text, random));
    }
    if (random() % 200 != 0) return;
    auto victim = requests.begin();
    std::advance(victim, random() % requests.size());
    if (served.stream(victim->first).ended || victim->first == event.request_id) return;
    served.cancel(victim->first);
    cancelled.push_back(victim->first);
  };
  served.run();
  for (const auto& [id, request] : requests) {
    const std::vector<int32_t> alone = expected_tokens(request, 50);
    const Stream& stream = served.stream(id);
    if (std::find(cancelled.begin(), cancelled.end(), id) == cancelled.end()) {
      EXPECT_EQ(stream.tokens, alone) << "request " << id;
      EXPECT_EQ(stream.text, letters(alone));
    } else {
      ASSERT_LE(stream.tokens.size(), alone.size());
      EXPECT_TRUE(std::equal(stream.tokens.begin(), stream.tokens.end(), alone.begin()));
    }
  }
  served.run_until_idle();
  EXPECT_FALSE(cancelled.empty());
  EXPECT_GT(served.engine().stats().preemptions, 0U);
  EXPECT_EQ(served.engine().stats().plans_refused, 0U);
  EXPECT_EQ(served.engine().stats().requests_cancelled, cancelled.size());
  EXPECT_EQ(served.engine().stats().requests_finished, requests.size() - cancelled.size());
  EXPECT_GT(served.engine().stats().cache_hit_tokens, 0U);
  EXPECT_GT(served.engine().stats().cache_evicted_blocks, 0U);
  EXPECT_EQ(served.engine().stats().blocks_stored > 0, host_blocks > 0);
  EXPECT_EQ(served.engine().stats().blocks_loaded > 0, host_blocks > 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, EngineLoad,
                         testing::Combine(testing::Range(1U, 9U), testing::Values(0U, 5U, 60U),
                                          testing::Bool()));

}  // namespace
}  // namespace halogen::fake
