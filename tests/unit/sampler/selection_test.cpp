// Which tokens each stage leaves, on vocabularies small enough to work out by hand.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#ifdef __SSE2__
#include <pmmintrin.h>
#endif

#include "sampling.h"

namespace sampling {
namespace {

using Tokens = std::vector<int32_t>;

// Logits of the probabilities 0.5, 0.25, 0.125, 0.125 at temperature 1.
std::vector<float> halves() {
  return {std::log(0.5F), std::log(0.25F), std::log(0.125F), std::log(0.125F)};
}

TEST(Selection, GreedyTakesTheLargestAndTheLowestIdOnATie) {
  Sampler sampler(5);
  State state = sampler.state(greedy());
  EXPECT_EQ(sampler.sample({1, 3, 2, 3, -1}, state).token, 1);
  EXPECT_EQ(sampler.sample({0, 0, 0, 0, 0}, state).token, 0);
}

#ifdef __SSE2__
// A host's code may run with them: then 0 has no neighbour, and the smallest numbers are equal to
// 0.
TEST(Selection, GreedyTakesTheLargestWhereDenormalsAreOff) {
  constexpr float kTiny = std::numeric_limits<float>::denorm_min();
  Sampler sampler(3);
  State state = sampler.state(greedy());
  const unsigned before = _mm_getcsr();
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
  _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_ON);
  const int32_t zero = sampler.sample({-1, 0, -2}, state).token;
  const int32_t tiny = sampler.sample({-1, -2, kTiny}, state).token;
  _mm_setcsr(before);
  EXPECT_EQ(zero, 1);
  EXPECT_EQ(tiny, 2);
}
#endif

TEST(Selection, TopKOfOneIsGreedyAtAnyTemperature) {
  halogen_sampling_parameters parameters = plain();
  parameters.temperature = 5;
  parameters.top_k = 1;
  EXPECT_EQ(possible({0, 1, 1, 0.5F}, parameters), (Tokens{1}));
}

TEST(Selection, TopKKeepsTheBestAndLowIdsOnATie) {
  halogen_sampling_parameters parameters = plain();
  parameters.top_k = 3;
  EXPECT_EQ(possible({0, 2, 0, 1, 0}, parameters), (Tokens{0, 1, 3}));
  parameters.top_k = 9;
  EXPECT_EQ(possible({0, 2, 0, 1, 0}, parameters), (Tokens{0, 1, 2, 3, 4}));
}

TEST(Selection, TopPKeepsTheSmallestSetThatReachesP) {
  halogen_sampling_parameters parameters = plain();
  const std::vector<std::pair<float, Tokens>> expected = {
      {0.0F, {0}},        {0.49F, {0}},       {0.51F, {0, 1}},       {0.74F, {0, 1}},
      {0.76F, {0, 1, 2}}, {0.87F, {0, 1, 2}}, {0.88F, {0, 1, 2, 3}}, {1.0F, {0, 1, 2, 3}},
  };
  for (const auto& [p, tokens] : expected) {
    parameters.top_p = p;
    EXPECT_EQ(possible(halves(), parameters), tokens) << "p = " << p;
  }
}

TEST(Selection, TopPOfEqualTokensReachedExactlyKeepsNoMore) {
  halogen_sampling_parameters parameters = plain();
  parameters.top_p = 0.5F;
  EXPECT_EQ(possible({0, 0, 0, 0}, parameters), (Tokens{0, 1}));
}

TEST(Selection, TopPCountsProbabilityAmongTheKBest) {
  halogen_sampling_parameters parameters = plain();
  parameters.top_k = 2;     // leaves 2/3 and 1/3
  parameters.top_p = 0.6F;  // would need two of all four
  EXPECT_EQ(possible(halves(), parameters), (Tokens{0}));
}

TEST(Selection, TopPSeesTheTemperature) {
  halogen_sampling_parameters parameters = plain();
  parameters.top_p = 0.51F;
  parameters.temperature = 0.5F;  // squares the probabilities: the first has 0.25 of 0.34375
  EXPECT_EQ(possible(halves(), parameters), (Tokens{0}));
}

TEST(Selection, MinPIsRelativeToTheBest) {
  halogen_sampling_parameters parameters = plain();
  parameters.min_p = 0.3F;
  EXPECT_EQ(possible(halves(), parameters), (Tokens{0, 1}));
  parameters.min_p = 0.2F;
  EXPECT_EQ(possible(halves(), parameters), (Tokens{0, 1, 2, 3}));
  parameters.min_p = 1;
  EXPECT_EQ(possible(halves(), parameters), (Tokens{0}));
}

TEST(Selection, BiasIsAddedAndBansFromMinusHundred) {
  Sampler sampler(3);
  halogen_sampling_parameters parameters = greedy();
  const halogen_logit_bias biases[] = {{0, 1.5F}, {2, -100}};
  parameters.biases = biases;
  parameters.n_biases = 2;
  State state = sampler.state(parameters);
  EXPECT_EQ(sampler.sample({0, 1, 1000}, state).token, 0);
}

TEST(Selection, AMaskedTokenIsNeverChosen) {
  Sampler sampler(40);
  State best = sampler.state(greedy());
  std::vector<float> logits(40, 0.0F);
  logits[35] = 9;
  logits[34] = 8;
  const uint32_t mask[] = {0xFFFFFFFF, ~(1U << 3)};  // bans token 35, in the second word
  EXPECT_EQ(sampler.sample(logits, best, -1, mask).token, 34);
  const uint32_t only[] = {1U << 7, 0};
  State random = sampler.state(plain());
  EXPECT_EQ(sampler.sample(logits, random, -1, only).token, 7);
}

TEST(Selection, NoPossibleTokenGivesMinusOneAndLeavesTheOtherRowsAlone) {
  Sampler sampler(3);
  State a = sampler.state(greedy()), b = sampler.state(plain()), c = sampler.state(greedy());
  const uint32_t none[] = {0};
  const uint32_t* masks[] = {none, nullptr, nullptr};
  const auto chosen =
      sampler.sample({{1, 2, 3}, {kNan, -kInfinity, kNan}, {0, 5, 0}}, {&a, &b, &c}, -1, masks);
  EXPECT_EQ(chosen[0].token, -1);
  EXPECT_EQ(chosen[1].token, -1);
  EXPECT_EQ(chosen[2].token, 1);
}

TEST(Selection, NotANumberIsImpossibleAndInfiniteIsLargest) {
  EXPECT_EQ(possible({kNan, 0, kNan, 0}, plain()), (Tokens{1, 3}));
  EXPECT_EQ(possible({0, kInfinity, 5, kInfinity}, plain()), (Tokens{1, 3}));
}

// A plain implementation that sorts, for vocabularies where partial selection has to work.
std::set<int32_t> nucleus_by_sorting(const std::vector<float>& logits, uint32_t k, double p) {
  std::vector<int32_t> order(logits.size());
  for (size_t i = 0; i < order.size(); i++) order[i] = static_cast<int32_t>(i);
  auto logit = [&](int32_t token) { return logits[static_cast<size_t>(token)]; };
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return logit(a) != logit(b) ? logit(a) > logit(b) : a < b;
  });
  order.resize(std::min<size_t>(order.size(), k));
  double total = 0, sum = 0;
  for (int32_t token : order) total += std::exp(double{logit(token)} - logit(order[0]));
  std::set<int32_t> kept;
  for (int32_t token : order) {
    kept.insert(token);
    sum += std::exp(double{logit(token)} - logit(order[0]));
    if (sum >= p * total) break;
  }
  return kept;
}

TEST(Selection, AgreesWithSortingOnRandomRows) {
  std::mt19937 random(7);
  constexpr uint32_t kVocabulary = 300;
  Sampler sampler(kVocabulary);
  for (int round = 0; round < 40; round++) {
    std::normal_distribution<float> normal(0, round % 2 == 0 ? 3.0F : 0.3F);
    std::vector<float> logits(kVocabulary);
    for (float& logit : logits) logit = normal(random);
    halogen_sampling_parameters parameters = plain();
    parameters.top_k = round % 4 == 3 ? 0 : 1 + static_cast<int32_t>(random() % 200);
    parameters.top_p = static_cast<float>(random() % 100) / 100;
    const uint32_t k =
        parameters.top_k == 0 ? kVocabulary : static_cast<uint32_t>(parameters.top_k);
    const std::set<int32_t> expected = nucleus_by_sorting(logits, k, parameters.top_p);
    State state = sampler.state(parameters);
    std::set<int32_t> seen;
    for (int draw = 0; draw < 1000; draw++) {
      const int32_t token = sampler.sample(logits, state).token;
      ASSERT_TRUE(expected.count(token)) << "token " << token << " in round " << round;
      seen.insert(token);
      state.accept(token);
    }
    if (expected.size() <= 20 && round % 2 == 1) {  // where none of them is rare
      EXPECT_EQ(seen.size(), expected.size()) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace sampling
