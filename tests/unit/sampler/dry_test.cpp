// DRY: which tokens would extend a repetition, and what they lose.
#include <algorithm>
#include <random>

#include "core/check/reference/sampling.h"
#include "plugins/sampler/repetitions.h"
#include "sampling.h"

namespace sampling {
namespace {

using Tokens = std::vector<int32_t>;
using Matches = std::map<int32_t, uint32_t>;

halogen_sampling_parameters dry(uint32_t allowed_length, int32_t last_n = -1) {
  halogen_sampling_parameters parameters = plain();
  parameters.dry_multiplier = 1;
  parameters.dry_base = 2;
  parameters.dry_allowed_length = allowed_length;
  parameters.dry_penalty_last_n = last_n;
  return parameters;
}

// As a request has them: one after the other, each followed by -1.
Tokens flat(const std::vector<Tokens>& breakers) {
  Tokens all;
  for (const Tokens& breaker : breakers) {
    all.insert(all.end(), breaker.begin(), breaker.end());
    all.push_back(-1);
  }
  return all;
}

Matches matches(const sampler::Repetitions& repetitions) {
  Matches found;
  for (const auto& [token, length] : repetitions.continuations())
    EXPECT_TRUE(found.emplace(token, length).second) << "token " << token << " twice";
  return found;
}

Matches matches_of(const Tokens& prompt, const Tokens& answer, uint32_t allowed_length,
                   const std::vector<Tokens>& breakers = {}, int32_t last_n = -1) {
  sampler::Repetitions repetitions(sampler::copy(dry(allowed_length, last_n)), flat(breakers),
                                   prompt, 64, 100);
  for (const int32_t token : answer) repetitions.accept(token);
  return matches(repetitions);
}

TEST(Dry, FindsTheTokenAfterAnEarlierOccurrenceOfTheEnd) {
  // "1 2 3" occurred before and was followed by 4; "3" alone by 9, too.
  EXPECT_EQ(matches_of({1, 2, 3, 4, 3, 9, 1, 2, 3}, {}, 1), (Matches{{4, 3}, {9, 1}}));
  EXPECT_EQ(matches_of({1, 2, 3, 4, 3, 9, 1, 2, 3}, {}, 2), (Matches{{4, 3}}));
  EXPECT_EQ(matches_of({1, 2, 3, 4}, {3, 9, 1, 2, 3}, 2), (Matches{{4, 3}}));
}

TEST(Dry, ARunOfOneTokenMatchesItself) {
  EXPECT_EQ(matches_of({5, 5, 5, 5}, {}, 2), (Matches{{5, 3}}));
  EXPECT_EQ(matches_of({5}, {5, 5, 5}, 2), (Matches{{5, 3}}));
}

TEST(Dry, NoMatchReachesAcrossABreaker) {
  const std::vector<Tokens> breakers = {{7}};
  EXPECT_EQ(matches_of({1, 2, 7, 3, 4, 1, 2, 7, 3}, {}, 1, breakers), (Matches{{4, 1}}));
  EXPECT_EQ(matches_of({1, 2, 7, 3, 4}, {1, 2, 7, 3}, 1, breakers), (Matches{{4, 1}}));
  EXPECT_EQ(matches_of({1, 2, 7, 3, 4}, {1, 2, 7}, 1, breakers), (Matches{}));
}

TEST(Dry, ABreakerOfSeveralTokensCountsWhereItIsWhole) {
  const std::vector<Tokens> breakers = {{7, 8}};
  EXPECT_EQ(matches_of({1, 7, 8, 3, 4}, {1, 7, 8, 3}, 1, breakers), (Matches{{4, 1}}));
  EXPECT_EQ(matches_of({1, 7, 9, 3, 4}, {1, 7, 9, 3}, 1, breakers), (Matches{{4, 4}}));
}

TEST(Dry, ABreakerItselfLosesNothing) {
  EXPECT_EQ(matches_of({1, 2, 7, 1, 2}, {}, 1, {{7}}), (Matches{}));
}

TEST(Dry, OnlyTheLastTokensAreSearched) {
  EXPECT_EQ(matches_of({1, 2, 3, 4, 1, 2, 3}, {}, 1, {}, 7), (Matches{{4, 3}}));
  EXPECT_EQ(matches_of({1, 2, 3, 4, 1, 2, 3}, {}, 1, {}, 6), (Matches{{4, 2}}));
  EXPECT_EQ(matches_of({1, 2, 3, 4, 1, 2, 3}, {}, 1, {}, 4), (Matches{}));
  EXPECT_EQ(matches_of({1, 2, 3, 4}, {1, 2, 3}, 1, {}, 6), (Matches{{4, 2}}));
}

// Few tokens, so that there are many repetitions; every step is compared.
TEST(Dry, AgreesWithASearchOfEveryPlaceOnRandomSequences) {
  std::mt19937 random(5);
  for (int round = 0; round < 60; round++) {
    const auto kinds = static_cast<unsigned>(2 + random() % 5);
    const uint32_t allowed = round % 4;
    const int32_t last_n = round % 3 == 0 ? -1 : static_cast<int32_t>(1 + random() % 40);
    std::vector<Tokens> breakers;
    if (round % 2 == 0) breakers = {{0}, {1, 1}, {1, 0, 1}};
    Tokens context;
    for (size_t i = random() % 80; i > 0; i--)
      context.push_back(static_cast<int32_t>(random() % kinds));
    sampler::Repetitions repetitions(sampler::copy(dry(allowed, last_n)), flat(breakers), context,
                                     100, 50);
    for (int step = 0; step < 100; step++) {
      ASSERT_EQ(matches(repetitions),
                halogen::reference::dry_matches(context, allowed, last_n, breakers))
          << "round " << round << ", step " << step;
      context.push_back(static_cast<int32_t>(random() % kinds));
      repetitions.accept(context.back());
    }
  }
}

// In any order and more than once; some are the ends of others, many share all but the first token.
TEST(Dry, ABreakerIsFoundAtItsLastTokenAmongManyLikeIt) {
  std::mt19937 random(11);
  const auto some = [&](size_t length, unsigned kinds) {
    Tokens tokens(length);
    for (int32_t& token : tokens) token = static_cast<int32_t>(random() % kinds);
    return tokens;
  };
  size_t found = 0, missed = 0;
  for (int round = 0; round < 200; round++) {
    const auto kinds = static_cast<unsigned>(2 + random() % 4);
    std::vector<Tokens> breakers;
    for (size_t i = random() % 12; i > 0; i--) breakers.push_back(some(1 + random() % 5, kinds));
    const sampler::SequenceBreakers search(flat(breakers));
    const Tokens sequence = some(random() % 40, kinds);
    for (size_t length = 1; length <= sequence.size(); length++) {
      const std::span said(sequence.data(), length);
      const auto ends = [&](const Tokens& breaker) {
        return breaker.size() > 1 && breaker.size() <= length &&
               std::equal(breaker.rbegin(), breaker.rend(), said.rbegin());
      };
      const bool expected = std::any_of(breakers.begin(), breakers.end(), ends);
      const auto at = [&](size_t back) { return said[length - 1 - back]; };
      ASSERT_EQ(search.ends_here(at, length), expected) << "round " << round;
      (expected ? found : missed)++;
      const bool alone = std::count(breakers.begin(), breakers.end(), Tokens{said.back()}) > 0;
      ASSERT_EQ(search.is_breaker(said.back()), alone);
    }
  }
  EXPECT_GT(found, 100U);
  EXPECT_GT(missed, 100U);
}

TEST(Dry, TakesMultiplierTimesBaseToTheExcessOffTheLogit) {
  // Token 4 would extend a repetition of 3 tokens: 0.5 * 3^(3 - 2) = 1.5 off 6.
  halogen_sampling_parameters parameters = greedy();
  parameters.dry_multiplier = 0.5F;
  parameters.dry_base = 3;
  Sampler sampler(10);
  for (const float rival : {4.4F, 4.6F}) {
    State state = sampler.state(parameters, {1, 2, 3, 4, 0, 1, 2, 3});
    std::vector<float> logits(10, 0);
    logits[4] = 6;
    logits[8] = rival;
    EXPECT_EQ(sampler.sample(logits, state).token, rival > 4.5F ? 8 : 4);
  }
}

TEST(Dry, ARepetitionOfAnyLengthLeavesTheOnlyTokenPossible) {
  halogen_sampling_parameters parameters = greedy();
  parameters.dry_multiplier = 100;
  parameters.dry_base = 100;
  Sampler sampler(4);
  State state = sampler.state(parameters, Tokens(300, 2));
  const uint32_t only[] = {1U << 2};
  EXPECT_EQ(sampler.sample({0, 0, 1, 0}, state, -1, only).token, 2);
}

TEST(Dry, FollowsWhatIsAccepted) {
  halogen_sampling_parameters parameters = dry(2);
  parameters.temperature = 0;
  parameters.dry_multiplier = 10;
  Sampler sampler(6);
  State state = sampler.state(parameters, {1, 2, 3, 1});
  const std::vector<float> logits = {0, 0, 1, 2, 0, 0};
  EXPECT_EQ(sampler.sample(logits, state).token, 3);
  state.accept(2);  // "1 2" again, which 3 followed
  EXPECT_EQ(sampler.sample(logits, state).token, 2);
}

}  // namespace
}  // namespace sampling
