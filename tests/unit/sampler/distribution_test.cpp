// What comes out over many draws, and that a seed decides it alone. The seeds are fixed, so these
// tests give the same verdict every time.
#include <cmath>

#include "sampling.h"

namespace sampling {
namespace {

// Pearson's statistic of `counts` against `probabilities`, over the tokens that are possible.
double chi_squared(const std::vector<int>& counts, const std::vector<double>& probabilities) {
  double draws = 0, statistic = 0;
  for (int count : counts) draws += count;
  for (size_t i = 0; i < counts.size(); i++) {
    const double expected = draws * probabilities[i];
    if (expected == 0) {
      EXPECT_EQ(counts[i], 0) << "token " << i;
    } else {
      statistic += (counts[i] - expected) * (counts[i] - expected) / expected;
    }
  }
  return statistic;
}

std::vector<double> softmax(const std::vector<float>& logits, double temperature) {
  std::vector<double> probabilities;
  double sum = 0;
  for (float logit : logits) sum += std::exp(logit / temperature);
  for (float logit : logits) probabilities.push_back(std::exp(logit / temperature) / sum);
  return probabilities;
}

const std::vector<float> kLogits = {1.0F, 0.5F, -1.0F, 2.0F, 0.0F, 1.5F};
constexpr int kDraws = 20000;

TEST(Distribution, FollowsTheSoftmaxAtSeveralTemperatures) {
  for (float temperature : {0.5F, 1.0F, 2.0F}) {
    halogen_sampling_parameters parameters = plain();
    parameters.temperature = temperature;
    parameters.seed = 42;
    // 20.5: the 0.999 quantile of chi-squared with 5 degrees of freedom.
    EXPECT_LT(chi_squared(frequencies(kLogits, parameters, kDraws), softmax(kLogits, temperature)),
              20.5)
        << "temperature " << temperature;
  }
}

TEST(Distribution, IsRenormalisedOverWhatTopKLeaves) {
  halogen_sampling_parameters parameters = plain();
  parameters.top_k = 3;
  parameters.seed = 43;
  std::vector<double> expected(6, 0);
  const double sum = std::exp(1.0) + std::exp(2.0) + std::exp(1.5);
  expected[0] = std::exp(1.0) / sum;
  expected[3] = std::exp(2.0) / sum;
  expected[5] = std::exp(1.5) / sum;
  // 13.8: the 0.999 quantile with 2 degrees of freedom.
  EXPECT_LT(chi_squared(frequencies(kLogits, parameters, kDraws), expected), 13.8);
}

TEST(Distribution, SeesThePenaltyOfGeneratedTokens) {
  halogen_sampling_parameters parameters = plain();
  parameters.presence_penalty = std::log(4.0F);
  Sampler sampler(3);
  std::vector<int> counts(3, 0);
  for (uint64_t seed = 0; seed < kDraws; seed++) {
    parameters.seed = seed;
    State state = sampler.state(parameters);
    state.accept(1);
    counts[static_cast<size_t>(sampler.sample({0, 0, 0}, state).token)]++;
  }
  EXPECT_LT(chi_squared(counts, {4 / 9.0, 1 / 9.0, 4 / 9.0}), 13.8);
}

std::vector<int32_t> tokens_of(Sampler& sampler, uint64_t seed, size_t others) {
  halogen_sampling_parameters parameters = plain();
  parameters.seed = seed;
  State state = sampler.state(parameters);
  std::vector<std::unique_ptr<State>> company;
  for (size_t i = 0; i < others; i++) {
    parameters.seed = 1000 + i;
    company.push_back(
        std::make_unique<State>(sampler.get(), parameters, std::vector<int32_t>{0}, 64U));
  }
  std::vector<int32_t> tokens;
  for (size_t step = 0; step < 50; step++) {
    const size_t place = others == 0 ? 0 : step % (others + 1);
    std::vector<std::vector<float>> rows;
    std::vector<const State*> states;
    for (size_t row = 0, other = 0; row <= others; row++) {
      rows.push_back(row == place ? kLogits : std::vector<float>(6, static_cast<float>(row)));
      states.push_back(row == place ? &state : company[other++].get());
    }
    tokens.push_back(sampler.sample(rows, states)[place].token);
    state.accept(tokens.back());
  }
  return tokens;
}

TEST(Seed, DecidesTheTokensWhateverElseIsInTheBatch) {
  Sampler sampler(6);
  EXPECT_EQ(tokens_of(sampler, 5, 0), tokens_of(sampler, 5, 0));
  EXPECT_EQ(tokens_of(sampler, 5, 0), tokens_of(sampler, 5, 7));
  EXPECT_NE(tokens_of(sampler, 5, 0), tokens_of(sampler, 6, 0));
}

TEST(Seed, TheDrawAdvancesOnlyWhenATokenIsAccepted) {
  halogen_sampling_parameters parameters = plain();
  parameters.seed = 5;
  Sampler sampler(6);
  State state = sampler.state(parameters);
  const int32_t first = sampler.sample(kLogits, state).token;
  for (int i = 0; i < 20; i++) EXPECT_EQ(sampler.sample(kLogits, state).token, first);
}

}  // namespace
}  // namespace sampling
