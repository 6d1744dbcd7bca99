// Many requests at once over a pool too small for them, some of them cancelled.
#include <random>

#include "served.h"

namespace halogen::fake {
namespace {

GenerationRequest random_request(std::mt19937& random) {
  auto below = [&random](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  std::vector<int32_t> prompt(1 + below(30));
  for (int32_t& token : prompt) token = static_cast<int32_t>(below(50));
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
  return request;
}

class EngineLoad : public testing::TestWithParam<uint32_t> {};

TEST_P(EngineLoad, EveryStreamIsWhatItWouldBeAlone) {
  std::mt19937 random(GetParam());
  EngineLimits limits = small_limits();
  limits.total_blocks = 40;  // 160 positions for up to 16 sequences of up to 70
  limits.max_sequences = 16;
  limits.max_batch_tokens = 40;
  limits.prefill_batch_tokens = 24;
  Served served(limits, Served::in_step_with_loop);
  std::map<uint64_t, GenerationRequest> requests;
  std::vector<uint64_t> cancelled;
  for (int i = 0; i < 64; i++) {
    const GenerationRequest request = random_request(random);
    requests[served.submit(request)] = request;
  }
  served.on_event = [&](const GenerationEvent& event) {
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
  EXPECT_EQ(served.engine().stats().requests_finished, 64 - cancelled.size());
}

INSTANTIATE_TEST_SUITE_P(Seeds, EngineLoad, testing::Range(1U, 9U));

}  // namespace
}  // namespace halogen::fake
