// Backends, samplers and schedulers that fail: who is told what, and what goes on.
#include "served.h"

namespace halogen::fake {
namespace {

TEST(EngineFailure, AStepThatCannotStartEndsWhatRunsAndNothingElse) {
  EngineLimits limits = small_limits();
  limits.max_sequences = 2;
  int steps = 0;
  Served served(limits, [&](EngineParts&, Served& self) {
    self.device().before_step = [&](const halogen_step&) {
      self.await_run();
      if (++steps == 4) self.device().submit_status = HALOGEN_E_DEVICE_LOST;
    };
  });
  const uint64_t a = served.submit(request_of({1}, 20)), b = served.submit(request_of({2}, 20));
  const GenerationRequest waiting = request_of({3}, 20);
  const uint64_t c = served.submit(waiting);
  served.on_event = [&](const GenerationEvent& event) {
    if (event.request_id == a && event.finish == FinishReason::error) {
      EXPECT_EQ(event.error, "starting a step: the queue is on fire");
    }
  };
  served.run();
  EXPECT_EQ(served.stream(a).last.finish, FinishReason::error);
  EXPECT_EQ(served.stream(b).last.finish, FinishReason::error);
  EXPECT_EQ(served.stream(c).tokens, expected_tokens(waiting, 50));
  served.run_until_idle();
  EXPECT_EQ(served.engine().stats().requests_failed, 2U);
  EXPECT_TRUE(served.engine().stats().healthy);  // the steps after it succeeded
  served.stop();
  EXPECT_EQ(served.log(), (std::vector<std::string>{"starting a step: the queue is on fire"}));
}

TEST(EngineFailure, AStepThatFailsWhileItIsComputedDoesTheSame) {
  Served served(small_limits(),
                [](EngineParts&, Served& self) { self.device().wait_status = HALOGEN_E_INTERNAL; });
  const uint64_t id = served.submit(request_of({1}, 20));
  served.run();
  EXPECT_EQ(served.stream(id).last.error, "computing a step: the device fell off");
  EXPECT_FALSE(served.engine().stats().healthy);
  served.run_until_idle();
}

// Readiness is off while it hangs, so that nobody sends a request: the engine finds out by itself.
TEST(EngineFailure, AStepThatHangsIsWaitedForUntilTheDeviceAnswers) {
  Served served(small_limits(),
                [](EngineParts&, Served& self) { self.device().hanging_waits = 3; });
  const uint64_t id = served.submit(request_of({1}, 20));
  served.run();
  EXPECT_EQ(served.stream(id).last.error, "computing a step: the device does not answer");
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!served.engine().stats().healthy && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(served.engine().stats().healthy);
  const GenerationRequest request = request_of({2}, 20);
  const uint64_t next = served.submit(request);
  served.run();
  EXPECT_EQ(served.stream(next).tokens, expected_tokens(request, 50));
}

TEST(EngineFailure, WhileAStepHangsNobodyIsKeptWaiting) {
  Served served(small_limits(),
                [](EngineParts&, Served& self) { self.device().hanging_waits = Device::kForever; });
  served.submit(request_of({1}, 20));
  served.run();
  EXPECT_FALSE(served.engine().stats().healthy);
  const uint64_t next = served.submit(request_of({2}, 20));
  served.run();
  EXPECT_EQ(served.stream(next).last.error,
            "waiting for a step that hangs: the device does not answer");
  EXPECT_FALSE(served.engine().stats().healthy);
  served.device().hanging_waits =
      0;  // else the step's arrays are never freed, in case it still writes
}

TEST(EngineFailure, ARequestWithoutAPossibleTokenEndsAlone) {
  Served served;
  GenerationRequest hopeless = request_of({1}, 20);
  for (int32_t token = 0; token < 50; token++)
    hopeless.sampling.logit_bias.push_back({token, -100});
  const GenerationRequest request = request_of({2}, 20);
  const uint64_t a = served.submit(hopeless), b = served.submit(request);
  served.run();
  EXPECT_EQ(served.stream(a).last.finish, FinishReason::error);
  EXPECT_EQ(
      served.stream(a).last.error,
      "no token can be chosen: the model's output is not a number, or the biases and masks of "
      "the request ban every token");
  EXPECT_EQ(served.stream(b).tokens, expected_tokens(request, 50));
}

TEST(EngineFailure, ASamplerThatFailsEndsWhatRuns) {
  halogen_sampler_factory broken = sampler::factory;
  broken.sample = [](halogen_sampler*, const halogen_sample_batch*, halogen_error* error) {
    return halogen_fail(error, HALOGEN_E_INTERNAL, "the dice are gone");
  };
  Served served(small_limits(), [&](EngineParts& parts, Served&) { parts.sampler = &broken; });
  const uint64_t id = served.submit(request_of({1}, 20));
  served.run();
  EXPECT_EQ(served.stream(id).last.error, "sampling: the dice are gone");
  served.run_until_idle();
}

halogen_status greedy_for_blocks(halogen_scheduler*, const halogen_schedule_view* view,
                                 halogen_schedule_plan* plan, halogen_error*) {
  for (uint32_t i = 0; i < view->n_requests; i++) plan->tokens[i] = view->waiting_tokens[i];
  return HALOGEN_OK;
}

halogen_status idle(halogen_scheduler*, const halogen_schedule_view*, halogen_schedule_plan*,
                    halogen_error*) {
  return HALOGEN_OK;
}

halogen_status failing(halogen_scheduler*, const halogen_schedule_view*, halogen_schedule_plan*,
                       halogen_error* error) {
  return halogen_fail(error, HALOGEN_E_INTERNAL, "no plan today");
}

TEST(EngineFailure, AFaultySchedulerSlowsDownButHarmsNobody) {
  using Plan = decltype(halogen_scheduler_factory::plan);
  for (Plan plan : {Plan{greedy_for_blocks}, Plan{idle}, Plan{failing}}) {
    halogen_scheduler_factory faulty = scheduler::factory;
    faulty.plan = plan;
    EngineLimits limits = small_limits();
    limits.total_blocks = 20;
    Served served(limits, [&](EngineParts& parts, Served& self) {
      parts.scheduler = &faulty;
      Served::held_until_run(parts, self);
    });
    std::map<uint64_t, GenerationRequest> requests;
    for (int32_t i = 0; i < 20; i++) {
      const GenerationRequest request = request_of(std::vector<int32_t>(10, i), 40);
      requests[served.submit(request)] = request;
    }
    served.run();
    for (const auto& [id, request] : requests)
      EXPECT_EQ(served.stream(id).tokens, expected_tokens(request, 50));
    EXPECT_GT(served.engine().stats().plans_refused, 0U);
    served.stop();
    ASSERT_FALSE(served.log().empty());
    EXPECT_NE(served.log()[0].find("first come, first served"), std::string::npos);
    EXPECT_LT(served.log().size(), 20U);  // not a line for every step
  }
}

}  // namespace
}  // namespace halogen::fake
