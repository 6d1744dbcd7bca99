// Cancelling, and ending the engine under its requests.
#include <thread>

#include "served.h"

namespace halogen::fake {
namespace {

// Served::cancel marks the stream as ended, and Served::receive fails the test on events after
// that; so these tests also check that none comes.

TEST(EngineCancel, ACancelledRequestGivesItsBlocksBack) {
  Served served(small_limits(), Served::in_step_with_loop);
  const uint64_t cancelled = served.submit(request_of({1}, 120));
  const GenerationRequest request = request_of({2}, 60);
  const uint64_t other = served.submit(request);
  served.run_until([&] { return served.stream(cancelled).tokens.size() >= 5; });
  served.cancel(cancelled);
  served.run();
  EXPECT_EQ(served.stream(other).tokens, expected_tokens(request, 50));
  served.run_until_idle();
  EXPECT_EQ(served.engine().stats().requests_cancelled, 1U);
}

TEST(EngineCancel, TakesEffectWithinOneStep) {
  // The engine thread holds every step until the loop thread has seen it begin, so the loop knows
  // during which step it cancels.
  std::atomic<int> begun{0}, allowed{0};
  std::atomic<uint32_t> sequences{0};
  Served served(small_limits(), [&](EngineParts&, Served& self) {
    self.device().before_step = [&](const halogen_step& step) {
      sequences = step.n_sequences;
      begun++;
      while (allowed < begun) std::this_thread::yield();
    };
  });
  auto wait_for_step = [&](int n) {
    while (begun < n) std::this_thread::yield();
  };
  const uint64_t a = served.submit(request_of({1}, 100));
  wait_for_step(1);
  served.submit(request_of({2}, 3));
  allowed = 1;
  wait_for_step(2);
  EXPECT_EQ(sequences, 2U);
  served.cancel(a);
  allowed = 2;
  wait_for_step(3);
  EXPECT_EQ(sequences, 1U);
  allowed = 1000;
  served.run();
}

TEST(EngineCancel, ARequestInTheQueueCanBeCancelled) {
  EngineLimits limits = small_limits();
  limits.max_sequences = 1;
  Served served(limits);
  served.submit(request_of({1}, 50));
  const uint64_t waiting = served.submit(request_of({2}, 50));
  served.cancel(waiting);
  served.run();
  EXPECT_TRUE(served.stream(waiting).tokens.empty());
}

TEST(EngineCancel, ARequestHasItsPlaceUntilTheStepThatItWasInHasEnded) {
  std::atomic<bool> begun{false}, held{true};
  EngineLimits limits = small_limits();
  limits.max_sequences = 1;
  limits.queue_limit = 2;
  Served served(limits, [&](EngineParts&, Served& self) {
    self.device().before_step = [&](const halogen_step&) {
      begun = true;
      while (held) std::this_thread::yield();
    };
  });
  const uint64_t running = served.submit(request_of({1}, 100));
  while (!begun) std::this_thread::yield();
  const uint64_t waiting = served.submit(request_of({2}, 100));
  const GenerationRequest request = request_of({3}, 10);
  const uint64_t last = served.submit(request);
  served.cancel(running);
  served.cancel(waiting);
  const auto refused = served.engine().submit(request, [](const GenerationEvent&) {});
  EXPECT_FALSE(refused);
  EXPECT_EQ(refused ? HALOGEN_OK : refused.error().status, HALOGEN_E_BUSY);
  held = false;
  served.run();
  EXPECT_EQ(served.stream(last).tokens, expected_tokens(request, 50));
  for (int i = 0; i < 3; i++) served.submit(request);  // there is room again
  served.run();
}

// From its handler, so that a client's next request need not wait for the loop's next turn.
TEST(EngineCancel, AFinishedRequestMakesRoomBeforeItsLastEvent) {
  EngineLimits limits = small_limits();
  limits.max_sequences = 1;
  limits.queue_limit = 0;
  Served served(limits);
  const uint64_t first = served.submit(request_of({1}, 5));
  served.on_event = [&](const GenerationEvent& event) {
    if (event.request_id == first && event.finish != FinishReason::none)
      served.submit(request_of({2}, 5));
  };
  served.run();
  EXPECT_EQ(served.streams().size(), 2U);
}

TEST(EngineCancel, AHandlerMayCancelItsOwnRequest) {
  Served served;
  const uint64_t id = served.submit(request_of({1}, 100));
  served.on_event = [&](const GenerationEvent& event) {
    if (event.request_id == id) served.cancel(id);
  };
  served.submit(request_of({2}, 40));
  served.run();
  EXPECT_EQ(served.stream(id).generated_so_far.size(), 1U);
}

TEST(EngineCancel, UnknownAndFinishedRequestsAreIgnored) {
  Served served;
  const uint64_t id = served.submit(request_of({1}, 2));
  served.run();
  served.engine().cancel(id);
  served.engine().cancel(12345);
  EXPECT_EQ(served.engine().stats().requests_cancelled, 0U);
}

TEST(EngineCancel, EndingTheEngineEndsEveryRequest) {
  EngineLimits limits = small_limits();
  limits.max_sequences = 2;
  Served served(limits, Served::in_step_with_loop);
  std::vector<uint64_t> ids;
  for (int i = 0; i < 5; i++) ids.push_back(served.submit(request_of({i}, 120)));
  served.run_until([&] { return !served.stream(ids[0]).tokens.empty(); });
  served.stop();
  for (uint64_t id : ids) {
    EXPECT_TRUE(served.stream(id).ended);
    EXPECT_EQ(served.stream(id).last.finish, FinishReason::cancelled);
  }
  // What was generated before is not lost, and is right.
  const std::vector<int32_t> all = expected_tokens(request_of({0}, 120), 50);
  const std::vector<int32_t>& got = served.stream(ids[0]).tokens;
  EXPECT_TRUE(std::equal(got.begin(), got.end(), all.begin()));
}

}  // namespace
}  // namespace halogen::fake
