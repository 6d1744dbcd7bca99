// Each way in which a plan can be wrong is found, and the plan in its place never is.
#include "core/engine/plan.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace halogen {
namespace {

// Two running requests and a waiting one over a pool with two free blocks of four tokens.
class Plans : public testing::Test {
 protected:
  Plans() { refresh(); }

  void refresh() {
    view_.struct_size = sizeof view_;
    view_.n_requests = static_cast<uint32_t>(states_.size());
    view_.states = states_.data();
    view_.computed_tokens = computed_.data();
    view_.waiting_tokens = waiting_.data();
    view_.blocks_held = held_.data();
    view_.block_tokens = 4;
    view_.free_blocks = 2;
    view_.total_blocks = 5;
    view_.token_budget = 10;
    view_.prefill_budget = 10;
    view_.max_sequences = 3;
    plan_.struct_size = sizeof plan_;
    plan_.tokens = tokens_.data();
    plan_.preempt = preempt_.data();
  }

  std::string fault() {
    const PlanFault found = check_plan(view_, plan_);
    return found.what != nullptr ? found.what : "";
  }

  std::vector<uint8_t> states_ = {HALOGEN_REQUEST_RUNNING, HALOGEN_REQUEST_RUNNING,
                                  HALOGEN_REQUEST_WAITING};
  std::vector<uint32_t> computed_ = {4, 7, 0}, waiting_ = {1, 1, 9}, held_ = {1, 2, 0};
  std::vector<uint32_t> tokens_ = {1, 1, 4};
  std::vector<uint8_t> preempt_ = {0, 0, 0};
  halogen_schedule_view view_{};
  halogen_schedule_plan plan_{};
};

TEST_F(Plans, ASoundOneHasNoFault) {
  EXPECT_EQ(fault(), "");
}

TEST_F(Plans, MoreTokensThanWait) {
  tokens_[1] = 2;
  EXPECT_EQ(fault(), "more tokens than are waiting");
  EXPECT_EQ(check_plan(view_, plan_).request, 1U);
}

TEST_F(Plans, MoreTokensThanTheStepMayHave) {
  view_.token_budget = 5;
  EXPECT_EQ(fault(), "more tokens than the step may have");
}

TEST_F(Plans, MoreBlocksThanAreFree) {
  tokens_[2] = 5;
  EXPECT_EQ(fault(), "more blocks than are free");
}

TEST_F(Plans, BlocksOfPreemptedRequestsCountAsFree) {
  tokens_ = {1, 0, 9};
  EXPECT_EQ(fault(), "more blocks than are free");
  preempt_[1] = HALOGEN_PREEMPT_RECOMPUTE;
  EXPECT_EQ(fault(), "");
  preempt_[1] = HALOGEN_PREEMPT_SPILL;
  EXPECT_EQ(fault(), "");
}

TEST_F(Plans, APreemptedRequestGetsNothing) {
  preempt_[0] = HALOGEN_PREEMPT_RECOMPUTE;
  EXPECT_EQ(fault(), "a preempted request gets tokens");
}

TEST_F(Plans, OnlyRunningRequestsArePreempted) {
  tokens_[2] = 0;
  preempt_[2] = HALOGEN_PREEMPT_RECOMPUTE;
  EXPECT_EQ(fault(), "it preempts a request that is not running");
}

TEST_F(Plans, UnknownPreemption) {
  preempt_[0] = 3;
  EXPECT_EQ(fault(), "preempt is no known value");
}

TEST_F(Plans, MoreRunningThanAllowed) {
  view_.max_sequences = 2;
  EXPECT_EQ(fault(), "more running requests than allowed");
}

TEST_F(Plans, NothingStartsThoughNothingRuns) {
  states_ = {HALOGEN_REQUEST_WAITING, HALOGEN_REQUEST_WAITING, HALOGEN_REQUEST_WAITING};
  tokens_ = {0, 0, 0};
  EXPECT_EQ(fault(), "requests wait and none starts");
}

TEST_F(Plans, NobodyGetsOn) {
  tokens_ = {0, 0, 0};
  EXPECT_EQ(fault(), "nobody gets on");
}

TEST_F(Plans, InOrderServesTheRunningThenTheOldestWaiting) {
  plan_in_order(view_, plan_);
  EXPECT_EQ(tokens_, (std::vector<uint32_t>{1, 1, 4}));
}

TEST_F(Plans, InOrderLetsTheYoungestYieldWhenNobodyGetsOn) {
  computed_ = {4, 8, 0};
  view_.free_blocks = 0;
  plan_in_order(view_, plan_);
  EXPECT_EQ(tokens_, (std::vector<uint32_t>{1, 0, 0}));
  EXPECT_EQ(preempt_, (std::vector<uint8_t>{0, HALOGEN_PREEMPT_RECOMPUTE, 0}));
}

TEST_F(Plans, InOrderIsSoundOnRandomViews) {
  std::mt19937 random(4);
  auto below = [&random](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  for (int round = 0; round < 20000; round++) {
    const uint32_t n = 1 + below(10);
    states_.assign(n, HALOGEN_REQUEST_WAITING);
    computed_.assign(n, 0);
    waiting_.assign(n, 0);
    held_.assign(n, 0);
    tokens_.assign(n, 77);  // whatever a scheduler left behind
    preempt_.assign(n, 7);
    refresh();
    view_.token_budget = 1 + below(30);
    view_.max_sequences = 1 + below(6);
    view_.free_blocks = below(3) == 0 ? 0 : below(8);
    uint32_t running = 0, held = 0;
    for (uint32_t i = 0; i < n; i++) {
      waiting_[i] = below(2) == 0 ? 1 : 1 + below(20);
      if (running == view_.max_sequences || below(2) == 0) continue;
      running++;
      states_[i] = HALOGEN_REQUEST_RUNNING;
      computed_[i] = below(20);
      held_[i] = blocks_for(computed_[i], 4);
      held += held_[i];
    }
    for (uint32_t i = 0; i < n; i++) {
      const uint32_t alone = blocks_for(computed_[i] + waiting_[i], 4);
      view_.free_blocks = std::max(view_.free_blocks, alone - std::min(alone, held));
    }
    plan_in_order(view_, plan_);
    ASSERT_EQ(fault(), "") << "round " << round;
    ASSERT_GT(*std::max_element(tokens_.begin(), tokens_.end()), 0U) << "round " << round;
  }
}

}  // namespace
}  // namespace halogen
