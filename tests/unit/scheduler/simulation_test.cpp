// Random views and whole random histories: no invariant breaks, everything ends, and in order.
#include <algorithm>
#include <random>

#include "core/engine/plan.h"
#include "planning.h"

namespace planning {
namespace {

using halogen::blocks_for;

constexpr const char* kPolicies[] = {"shortest-first", "first-come", "priority"};

TEST(Simulation, NoRandomViewBreaksAnInvariant) {
  std::mt19937 random(1);
  auto below = [&random](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  for (int round = 0; round < 20000; round++) {
    Budgets budgets;
    budgets.block_tokens = 1 + below(8);
    budgets.tokens = 1 + below(40);
    budgets.prefill = 1 + below(budgets.tokens);
    budgets.max_sequences = 1 + below(10);
    budgets.free_blocks = below(4) == 0 ? 0 : below(30);
    budgets.now_us = below(3'000'000);
    if (below(4) != 0)
      budgets.costs = {1000.0 * below(30), 1.0 + below(3000), below(2) * 0.2, 1.0 * below(9000),
                       0.7};
    budgets.target_interval_us = below(3) * 50'000.0;
    std::vector<Request> requests(1 + below(16));
    uint32_t running = 0;
    uint32_t held = 0;
    for (Request& request : requests) {
      request.priority = static_cast<int32_t>(below(6)) / 5;
      request.waiting = below(2) == 0 ? 1 : 1 + below(30);
      request.arrival_us = 1000 * static_cast<uint64_t>(&request - requests.data());
      if (running == budgets.max_sequences || below(2) == 0) {
        if (below(3) == 0) request.computed = request.cached = below(30);
        continue;
      }
      running++;
      request.running = true;
      request.computed = below(40);
      request.blocks = blocks_for(request.computed, budgets.block_tokens);
      held += request.blocks;
    }
    // The core admits only what fits an empty pool.
    for (const Request& request : requests) {
      const uint32_t alone = blocks_for(request.computed + request.waiting, budgets.block_tokens);
      budgets.free_blocks = std::max(budgets.free_blocks, alone - std::min(alone, held));
    }
    budgets.total_blocks = budgets.free_blocks + held;
    const Plan plan =
        Scheduler(kPolicies[round % 3], below(3) == 0 ? below(8) : 0).plan(requests, budgets);
    ASSERT_EQ(plan.fault, "") << "round " << round;
  }
}

TEST(Simulation, EveryRequestEndsOnPoolsTooSmallForAll) {
  std::mt19937 random(2);
  auto below = [&random](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  uint32_t preemptions = 0;
  for (int round = 0; round < 200; round++) {
    Budgets budgets;
    budgets.block_tokens = 1 + below(6);
    budgets.total_blocks = blocks_for(60, budgets.block_tokens) + below(20);
    budgets.tokens = 4 + below(30);
    budgets.prefill = 1 + below(budgets.tokens);
    std::vector<Job> jobs;
    uint32_t arrival = 0;
    uint32_t work = 0;
    for (uint64_t id = 0; id < 60; id++) {
      arrival += below(4);
      jobs.push_back({id, 1 + below(30), 1 + below(30), arrival});
      work += jobs.back().prompt + jobs.back().answer;
    }
    const History history =
        Scheduler(kPolicies[round % 3], below(2) == 0 ? 0 : 1 + below(8)).play(jobs, budgets);
    ASSERT_EQ(history.fault, "") << "round " << round;
    ASSERT_EQ(history.finished.size(), jobs.size()) << "round " << round;
    if (round % 3 == 1) {
      EXPECT_TRUE(std::is_sorted(history.started.begin(), history.started.end()));
    }
    // Even one token at a time would need no more, but for what is computed twice.
    EXPECT_LT(history.steps, 2 * work + arrival) << "round " << round;
    preemptions += history.preemptions;
  }
  EXPECT_GT(preemptions, 100U);  // the pools were small enough to matter
}

// A prompt of 70 tokens is overdue after a second, which is 106 steps of one newcomer each.
TEST(Simulation, ARequestThatNeedsTheWholePoolIsNotStarvedByAStreamOfSmallOnes) {
  for (const auto& [policy, most] : {std::pair("first-come", 40), std::pair("priority", 40),
                                     std::pair("shortest-first", 30 + 106 + 10)}) {
    Budgets budgets;
    budgets.total_blocks = 20;
    std::vector<Job> jobs;
    for (uint64_t id = 0; id < 500; id++) jobs.push_back({id, 4, 6, static_cast<uint32_t>(id)});
    jobs[30].prompt = 70;
    const History history = Scheduler(policy).play(jobs, budgets);
    EXPECT_EQ(history.fault, "");
    const auto& finished = history.finished;
    const auto place = std::find(finished.begin(), finished.end(), 30) - finished.begin();
    EXPECT_LT(place, most) << policy;
  }
}

TEST(Simulation, WithRoomForAllNobodyIsPreempted) {
  std::vector<Job> jobs;
  for (uint64_t id = 0; id < 50; id++) jobs.push_back({id, 20, 20, static_cast<uint32_t>(id / 5)});
  Budgets budgets;
  budgets.total_blocks = 1000;
  const History history = Scheduler().play(jobs, budgets);
  EXPECT_EQ(history.fault, "");
  EXPECT_EQ(history.preemptions, 0U);
}

}  // namespace
}  // namespace planning
