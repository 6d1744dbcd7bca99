// The step loop allocates nothing, whatever it does with blocks.
#include <atomic>
#include <cstdlib>
#include <new>

#include "served.h"

namespace {

// Set on the engine thread, between the steps of the fake device: what the device does is its own
// affair.
thread_local bool counting = false;
std::atomic<int> allocations{0};

void* allocate(size_t bytes) {
  if (counting) allocations++;
  void* memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

#include "tests/unit/replaced_new.h"  // wants allocate()

namespace halogen::fake {
namespace {

TEST(EngineAllocation, DecodingAllocatesNothing) {
  constexpr uint32_t kTokens = 100;
  std::atomic<uint32_t> computed{0};  // steps
  Served served(small_limits(), [&](EngineParts&, Served& self) {
    self.device().before_step = [&](const halogen_step&) {
      counting = false;
      self.await_loop();
    };
    self.device().after_step = [&] {
      // The first steps warm up, and in the last ones sequences end.
      counting = ++computed > 20 && computed < kTokens - 20;
    };
  });
  std::vector<std::pair<uint64_t, GenerationRequest>> requests;
  for (int32_t i = 0; i < 4; i++) {
    GenerationRequest request = request_of({i, 2, 3}, kTokens, static_cast<uint64_t>(i));
    request.top_logprobs = i - 1;
    request.sampling.top_k = 10 * i;
    request.sampling.top_p = 0.9F;
    request.sampling.min_p = 0.01F;
    request.sampling.repetition_penalty = 1.1F;
    request.sampling.frequency_penalty = 0.1F;
    if (i == 3) request.sampling.penalty_window = 10;
    request.stop = {"~never~"};
    requests.emplace_back(served.submit(request), request);
  }
  served.run();
  for (const auto& [id, request] : requests)
    EXPECT_EQ(served.stream(id).tokens, expected_tokens(request, 50));
  EXPECT_EQ(allocations, 0);
  EXPECT_GE(computed, kTokens);
}

// Blocks are shared, copied, thrown out, stored and loaded while requests come, yield and go.
TEST(EngineAllocation, SharingAndSpillingAllocateNothing) {
  constexpr int kRequests = 60;
  EngineLimits limits = small_limits();
  limits.total_blocks = 24;
  limits.host_blocks = 30;
  std::atomic<int> ended{0};
  Served served(limits, [&](EngineParts& parts, Served& self) {
    Served::spilling(parts, self);
    self.device().before_step = [&](const halogen_step&) {
      counting = false;
      self.await_run();
      self.await_loop();
    };
    self.device().after_step = [&] { counting = ended > 10 && ended < kRequests - 10; };
  });
  std::vector<std::pair<uint64_t, GenerationRequest>> requests;
  for (int32_t i = 0; i < kRequests; i++) {
    std::vector<int32_t> prompt{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    prompt.resize(static_cast<size_t>(i % 11));
    prompt.push_back(i % 50);
    const GenerationRequest request = request_of(prompt, 30, static_cast<uint64_t>(i));
    requests.emplace_back(served.submit(request), request);
  }
  served.on_event = [&](const GenerationEvent& event) {
    ended += event.finish != FinishReason::none;
  };
  served.run();
  for (const auto& [id, request] : requests)
    EXPECT_EQ(served.stream(id).tokens, expected_tokens(request, 50));
  EXPECT_EQ(allocations, 0);
  const EngineStats stats = served.engine().stats();
  EXPECT_GT(stats.preemptions, 0U);
  EXPECT_GT(stats.cache_hit_tokens, 0U);
  EXPECT_GT(stats.blocks_loaded, 0U);
}

// Thousands of steps in which requests come, wait, are admitted, end and make room for others.
TEST(EngineAllocation, AdmittingAndEndingAllocatesNothing) {
  constexpr uint32_t kRequests = 400, kTokens = 40;
  EngineLimits limits = small_limits();
  limits.queue_limit = kRequests;
  const uint32_t full_steps = kRequests * kTokens / limits.max_sequences;
  std::atomic<uint32_t> computed{0};  // steps
  allocations = 0;
  Served served(limits, [&](EngineParts&, Served& self) {
    self.device().before_step = [&](const halogen_step&) {
      counting = false;
      self.await_run();
      self.await_loop();
    };
    // The first ones warm up: batches of events get their room. Once nobody is left, a debug build
    // looks through its books.
    self.device().after_step = [&] { counting = ++computed > 200 && computed < full_steps; };
  });
  std::vector<uint64_t> ids;
  for (uint32_t i = 0; i < kRequests; i++) {
    const auto token = static_cast<int32_t>(i % 40);
    ids.push_back(served.submit(request_of({token, 2, 3, 4, 5}, kTokens, i)));
  }
  served.run();
  served.stop();
  for (const uint64_t id : ids) EXPECT_EQ(served.stream(id).tokens.size(), kTokens);
  EXPECT_GE(computed, full_steps);
  EXPECT_EQ(allocations, 0);
}

}  // namespace
}  // namespace halogen::fake
