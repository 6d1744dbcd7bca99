// What a step gives to whom, in situations small enough to work out by hand.
#include "planning.h"

namespace planning {
namespace {

using Tokens = std::vector<uint32_t>;
using Preempted = std::vector<uint8_t>;
constexpr const char* kFirstCome = "first-come";
constexpr uint8_t kSpill = HALOGEN_PREEMPT_SPILL;

Request waiting(uint32_t prompt) {
  Request request;
  request.waiting = prompt;
  return request;
}

Request decoding(uint32_t computed, uint32_t blocks) {
  Request request;
  request.running = true;
  request.computed = computed;
  request.waiting = 1;
  request.blocks = blocks;
  request.generated = 1;
  return request;
}

Request in_prompt(uint32_t computed, uint32_t rest, uint32_t blocks) {
  Request request;
  request.running = true;
  request.computed = computed;
  request.waiting = rest;
  request.blocks = blocks;
  return request;
}

TEST(Plan, DecodesThenPromptsThenNewcomersShareAStep) {
  const Plan plan =
      Scheduler(kFirstCome).plan({in_prompt(8, 20, 2), decoding(7, 2), waiting(6)}, Budgets());
  EXPECT_EQ(plan.fault, "");
  EXPECT_EQ(plan.tokens, (Tokens{20, 1, 6}));
}

TEST(Plan, PromptsAreCutToThePrefillBudgetInOrderOfArrival) {
  Budgets budgets;
  budgets.prefill = 10;
  EXPECT_EQ(Scheduler(kFirstCome).plan({waiting(8), waiting(8), waiting(8)}, budgets).tokens,
            (Tokens{8, 2, 0}));
}

TEST(Plan, DecodesLeavePromptsWhatRemainsOfTheStep) {
  Budgets budgets;
  budgets.tokens = 5;
  EXPECT_EQ(
      Scheduler(kFirstCome).plan({waiting(9), decoding(3, 1), decoding(3, 1)}, budgets).tokens,
      (Tokens{3, 1, 1}));
}

// A millisecond for each token, and a target of a hundred.
Budgets timed() {
  Budgets budgets;
  budgets.tokens = budgets.prefill = 2048;
  budgets.total_blocks = budgets.free_blocks = 1000;
  budgets.costs.prefill_token = budgets.costs.decode_token = 1000;
  budgets.target_interval_us = 100'000;
  return budgets;
}

TEST(Plan, PromptsGetWhatDecodesLeaveOfTheTarget) {
  EXPECT_EQ(Scheduler().plan({decoding(7, 2), waiting(500)}, timed()).tokens, (Tokens{1, 99}));
  EXPECT_EQ(
      Scheduler().plan({decoding(7, 2), decoding(7, 2), waiting(60), waiting(500)}, timed()).tokens,
      (Tokens{1, 1, 60, 38}));
}

TEST(Plan, WhereNobodyDecodesAStepMayTakeLonger) {
  EXPECT_EQ(Scheduler().plan({waiting(500)}, timed()).tokens, (Tokens{400}));
  // But not once a prompt ends in it, but for the older one's share.
  EXPECT_EQ(Scheduler().plan({waiting(500), waiting(60)}, timed()).tokens, (Tokens{40, 60}));
  EXPECT_EQ(Scheduler().plan({waiting(500), waiting(90)}, timed()).tokens, (Tokens{30, 90}));
}

TEST(Plan, WhileMoreWaitForTheirFirstTokenAStepMayTakeTwiceAsLong) {
  EXPECT_EQ(
      Scheduler().plan({decoding(7, 2), waiting(500), waiting(500), waiting(500)}, timed()).tokens,
      (Tokens{1, 199, 0, 0}));
}

TEST(Plan, DecodesThatTakeLongLeavePromptsTwiceTheirTime) {
  Budgets budgets = timed();
  budgets.costs.decode_token = 70'000;
  EXPECT_EQ(Scheduler().plan({decoding(7, 2), waiting(500)}, budgets).tokens, (Tokens{1, 140}));
}

TEST(Plan, WithoutATargetTheBudgetsDecide) {
  Budgets budgets = timed();
  budgets.target_interval_us = 0;
  EXPECT_EQ(Scheduler().plan({decoding(7, 2), waiting(500)}, budgets).tokens, (Tokens{1, 500}));
}

TEST(Plan, TheOldestHasAQuarterWhateverTheOrder) {
  std::vector<Request> requests = {in_prompt(0, 500, 0), waiting(200), decoding(7, 2),
                                   decoding(7, 2)};
  EXPECT_EQ(Scheduler().plan(requests, timed()).tokens, (Tokens{25, 73, 1, 1}));
}

TEST(Plan, ShorterPromptsAndHigherPrioritiesGoFirst) {
  Budgets budgets;
  budgets.prefill = 8;
  std::vector<Request> requests = {waiting(9), waiting(8), waiting(10)};
  EXPECT_EQ(Scheduler().plan(requests, budgets).tokens, (Tokens{2, 6, 0}));
  EXPECT_EQ(Scheduler("priority").plan(requests, budgets).tokens, (Tokens{8, 0, 0}));
  requests[2].priority = 1;
  EXPECT_EQ(Scheduler().plan(requests, budgets).tokens, (Tokens{0, 0, 8}));
  EXPECT_EQ(Scheduler("priority").plan(requests, budgets).tokens, (Tokens{0, 0, 8}));
  EXPECT_EQ(Scheduler(kFirstCome).plan(requests, budgets).tokens, (Tokens{8, 0, 0}));
}

TEST(Plan, MoreDecodesThanTheStepHoldsGoInOrder) {
  Budgets budgets;
  budgets.tokens = 2;
  EXPECT_EQ(
      Scheduler(kFirstCome).plan({decoding(3, 1), decoding(3, 1), decoding(3, 1)}, budgets).tokens,
      (Tokens{1, 1, 0}));
}

TEST(Plan, AChunkLimitLetsPromptsShareAStep) {
  EXPECT_EQ(Scheduler(kFirstCome, 5).plan({waiting(50), waiting(8), waiting(3)}, Budgets()).tokens,
            (Tokens{5, 5, 3}));
}

TEST(Plan, NoMoreRunThanAllowed) {
  Budgets budgets;
  budgets.max_sequences = 2;
  EXPECT_EQ(Scheduler(kFirstCome).plan({decoding(3, 1), waiting(4), waiting(4)}, budgets).tokens,
            (Tokens{1, 4, 0}));
}

TEST(Plan, ADecodeThatLacksABlockPreemptsTheYoungest) {
  Budgets budgets;
  budgets.free_blocks = 0;
  const Plan plan =
      Scheduler(kFirstCome).plan({decoding(4, 1), in_prompt(4, 9, 1), decoding(5, 2)}, budgets);
  EXPECT_EQ(plan.fault, "");
  EXPECT_EQ(plan.preempt, (Preempted{HALOGEN_KEEP, HALOGEN_KEEP, kSpill}));
  // One of its two blocks goes to the decode, the other to the prompt.
  EXPECT_EQ(plan.tokens, (Tokens{1, 4, 0}));
}

TEST(Plan, TheYoungestDecodeYieldsItself) {
  Budgets budgets;
  budgets.free_blocks = 0;
  const Plan plan = Scheduler(kFirstCome).plan({decoding(3, 1), decoding(4, 1)}, budgets);
  EXPECT_EQ(plan.preempt, (Preempted{HALOGEN_KEEP, kSpill}));
  EXPECT_EQ(plan.tokens, (Tokens{1, 0}));
}

TEST(Plan, NobodyIsAdmittedInAStepThatPreempts) {
  Budgets budgets;
  budgets.free_blocks = 0;
  const Plan plan =
      Scheduler(kFirstCome).plan({decoding(4, 1), decoding(30, 8), waiting(1)}, budgets);
  EXPECT_EQ(plan.preempt, (Preempted{HALOGEN_KEEP, kSpill, HALOGEN_KEEP}));
  EXPECT_EQ(plan.tokens, (Tokens{1, 0, 0}));
}

TEST(Plan, AdmissionLeavesEveryRunningRequestABlockToGrow) {
  Budgets budgets;
  // Eight tokens and the first generated one take three blocks, and one is kept for the decode.
  budgets.free_blocks = 3;
  EXPECT_EQ(Scheduler(kFirstCome).plan({decoding(3, 1), waiting(8)}, budgets).tokens,
            (Tokens{1, 0}));
  budgets.free_blocks = 4;
  EXPECT_EQ(Scheduler(kFirstCome).plan({decoding(3, 1), waiting(8)}, budgets).tokens,
            (Tokens{1, 8}));
}

TEST(Plan, AdmissionCountsWhatRunningPromptsStillNeed) {
  Budgets budgets;
  budgets.prefill = 8;
  budgets.free_blocks = 8;
  // Four of the eight blocks are promised to the first prompt's second half and two to its chunk.
  EXPECT_EQ(Scheduler(kFirstCome, 4).plan({in_prompt(4, 20, 1), waiting(8)}, budgets).tokens,
            (Tokens{4, 0}));
}

TEST(Plan, AloneARequestMayFillThePool) {
  Budgets budgets;
  budgets.free_blocks = budgets.total_blocks = 2;
  EXPECT_EQ(Scheduler(kFirstCome).plan({waiting(8)}, budgets).tokens, (Tokens{8}));
}

TEST(Plan, NobodyOvertakesARequestThatDoesNotFitYet) {
  Budgets budgets;
  budgets.free_blocks = 10;
  EXPECT_EQ(Scheduler(kFirstCome).plan({decoding(3, 1), waiting(60), waiting(1)}, budgets).tokens,
            (Tokens{1, 0, 0}));
}

TEST(Plan, PromptsThatFillThePoolTogetherYieldToTheOldest) {
  Budgets budgets;
  budgets.free_blocks = 0;
  const Plan plan = Scheduler(kFirstCome).plan({in_prompt(8, 9, 2), in_prompt(8, 9, 2)}, budgets);
  EXPECT_EQ(plan.fault, "");
  EXPECT_EQ(plan.preempt, (Preempted{HALOGEN_KEEP, kSpill}));
  EXPECT_EQ(plan.tokens, (Tokens{8, 0}));
}

TEST(Plan, NothingToDoIsNoFault) {
  EXPECT_EQ(Scheduler(kFirstCome).plan({}, Budgets()).fault, "");
}

}  // namespace
}  // namespace planning
