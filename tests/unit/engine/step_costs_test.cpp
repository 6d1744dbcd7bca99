// Steps of a machine that is known, and what is learned of it.
#include "core/engine/step_costs.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace halogen {
namespace {

// A model of half a billion parameters on two cores, in microseconds.
struct Machine {
  double step = 15'000, prefill_token = 1500, decode_token = 3000;
  double prefill_context = 0.1, decode_context = 1;

  double of(const StepWork& work) const {
    return step + prefill_token * work.prefill_tokens + decode_token * work.decodes +
           prefill_context * work.prefill_context + decode_context * work.decode_context;
  }
};

StepWork prefill(uint32_t computed, uint32_t tokens) {
  StepWork work;
  work.add_prefill(computed, tokens);
  return work;
}

StepWork decodes(uint32_t streams, uint32_t computed) {
  StepWork work;
  for (uint32_t i = 0; i < streams; i++) work.add_decode(computed);
  return work;
}

// What a server goes through: prompts in chunks, streams that come and go, both in a step.
StepWork day(std::mt19937& random, int step) {
  const auto below = [&random](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  StepWork work = decodes(1 + below(8), 100 + below(4000));
  if (step % 3 == 0) work.add_prefill(below(8000), 16 + below(200));
  return work;
}

void expect_near(const StepCosts& costs, const Machine& machine, const StepWork& work,
                 double share) {
  EXPECT_NEAR(costs.of(work), machine.of(work), share * machine.of(work));
}

TEST(StepCosts, NothingIsKnownBeforeTheFirstStep) {
  const StepCosts costs;
  EXPECT_EQ(costs.of(prefill(0, 100)), 0);
  EXPECT_EQ(costs.prefill_token_us(), 0);
  EXPECT_EQ(costs.prefill_tokens_within(1e6, 2048), 128U);
  EXPECT_EQ(costs.prefill_tokens_within(1e6, 20), 20U);
}

TEST(StepCosts, ContextIsCountedTokenByToken) {
  StepWork work = prefill(10, 3);  // 10, 11 and 12 tokens before them
  EXPECT_EQ(work.prefill_context, 33);
  work.add_decode(7);
  EXPECT_EQ(work.decode_context, 7);
}

TEST(StepCosts, AfterOnePromptTheNextIsNotUnderrated) {
  const Machine machine;
  StepCosts costs;
  costs.measured(machine.of(prefill(0, 128)), prefill(0, 128));
  expect_near(costs, machine, prefill(0, 128), 0.1);
  // Four times the chunk may take longer than thought, by less than a third.
  EXPECT_GT(costs.of(prefill(0, 512)), 0.7 * machine.of(prefill(0, 512)));
}

TEST(StepCosts, EachCostIsLearnedFromMixedSteps) {
  const Machine machine;
  StepCosts costs;
  std::mt19937 random(1);
  for (int i = 0; i < 300; i++) {
    const StepWork work = day(random, i);
    costs.measured(machine.of(work), work);
  }
  EXPECT_NEAR(costs.step_us(), machine.step, 0.1 * machine.step);
  EXPECT_NEAR(costs.prefill_token_us(), machine.prefill_token, 0.05 * machine.prefill_token);
  EXPECT_NEAR(costs.decode_token_us(), machine.decode_token, 0.1 * machine.decode_token);
  EXPECT_NEAR(costs.prefill_context_us(), machine.prefill_context, 0.1 * machine.prefill_context);
  EXPECT_NEAR(costs.decode_context_us(), machine.decode_context, 0.1 * machine.decode_context);
}

TEST(StepCosts, NoiseAndHiccupsDoLittle) {
  const Machine machine;
  StepCosts costs;
  std::mt19937 random(2);
  std::normal_distribution<double> noise(1, 0.1);
  for (int i = 0; i < 600; i++) {
    const StepWork work = day(random, i);
    const double hiccup = random() % 25 == 0 ? 8 : 1;
    costs.measured(machine.of(work) * noise(random) * hiccup, work);
    if (i < 100) continue;
    expect_near(costs, machine, decodes(4, 500), 0.35);
    expect_near(costs, machine, prefill(2000, 100), 0.35);
  }
}

TEST(StepCosts, AThousandDecodesLeaveWhatIsKnownOfPrompts) {
  const Machine machine;
  StepCosts costs;
  std::mt19937 random(3);
  std::normal_distribution<double> noise(1, 0.05);
  for (int i = 0; i < 200; i++) {
    const StepWork work = day(random, i);
    costs.measured(machine.of(work) * noise(random), work);
  }
  for (uint32_t i = 0; i < 5000; i++) {
    const StepWork work = decodes(1, 100 + i % 300);
    costs.measured(machine.of(work) * noise(random), work);
  }
  expect_near(costs, machine, decodes(1, 200), 0.1);
  expect_near(costs, machine, prefill(0, 64), 0.2);
  expect_near(costs, machine, prefill(4000, 64), 0.2);
}

TEST(StepCosts, AChangeThatLastsIsFollowed) {
  Machine machine;
  StepCosts costs;
  std::mt19937 random(4);
  for (int i = 0; i < 200; i++) {
    const StepWork work = day(random, i);
    costs.measured(machine.of(work), work);
  }
  for (double* cost : {&machine.step, &machine.prefill_token, &machine.decode_token,
                       &machine.prefill_context, &machine.decode_context})
    *cost *= 3;
  for (int i = 0; i < 20; i++) {
    const StepWork work = day(random, i);
    costs.measured(machine.of(work), work);
  }
  expect_near(costs, machine, decodes(4, 500), 0.25);
  expect_near(costs, machine, prefill(2000, 100), 0.25);
}

// Weights are read once: one to eight tokens take nearly the same time, and what comes after that
// is bound by arithmetic.
TEST(StepCosts, StepsOfFewTokensCostNearlyTheSame) {
  const auto time = [](uint32_t tokens) {
    return std::max(20'000.0 + 200.0 * tokens, 1500.0 * tokens);
  };
  StepCosts costs;
  std::mt19937 random(5);
  for (int i = 0; i < 400; i++) {
    const uint32_t streams = 1 + static_cast<uint32_t>(random() % 8);
    StepWork work = decodes(streams, 100);
    const uint32_t prompt = i % 4 == 0 ? 50 + static_cast<uint32_t>(random() % 100) : 0;
    if (prompt > 0) work.add_prefill(0, prompt);
    costs.measured(time(streams + prompt), work);
  }
  EXPECT_NEAR(costs.of(decodes(1, 100)), time(1), 0.15 * time(1));
  EXPECT_NEAR(costs.of(decodes(8, 100)), time(8), 0.15 * time(8));
  EXPECT_NEAR(costs.of(prefill(0, 100)), time(100), 0.15 * time(100));
}

TEST(StepCosts, NothingIsEverNegativeOrNoNumber) {
  StepCosts costs;
  std::mt19937 random(6);
  for (int i = 0; i < 5000; i++) {
    const StepWork work = day(random, i);
    const double odd[] = {0, 1, 1e3, 1e6, 6e7, 1e12};
    costs.measured(odd[random() % 6], work);
    for (const double cost : {costs.step_us(), costs.prefill_token_us(), costs.decode_token_us(),
                              costs.prefill_context_us(), costs.decode_context_us()})
      ASSERT_TRUE(std::isfinite(cost) && cost >= 0) << i;
  }
}

}  // namespace
}  // namespace halogen
