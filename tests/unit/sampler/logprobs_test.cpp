// Log-probabilities against a softmax in float64, and that they come from the unchanged logits.
#include <cmath>
#include <random>

#include "sampling.h"

namespace sampling {
namespace {

double log_softmax(const std::vector<float>& logits, size_t token) {
  double sum = 0;
  for (float logit : logits) sum += std::exp(double{logit});
  return logits[token] - std::log(sum);
}

TEST(Logprobs, OfTheChosenAndTheBestAgreeWithFloat64) {
  std::mt19937 random(11);
  std::normal_distribution<float> normal(0, 4);
  Sampler sampler(1000);
  for (int round = 0; round < 20; round++) {
    std::vector<float> logits(1000);
    for (float& logit : logits) logit = normal(random);
    State state = sampler.state(plain());
    const Chosen chosen = sampler.sample(logits, state, 5);
    const double expected = log_softmax(logits, static_cast<size_t>(chosen.token));
    EXPECT_NEAR(chosen.logprob, expected, 1e-6 * std::fabs(expected));

    std::vector<float> sorted = logits;
    std::sort(sorted.rbegin(), sorted.rend());
    for (size_t i = 0; i < 5; i++) {
      const auto token = static_cast<size_t>(chosen.top_tokens[i]);
      EXPECT_EQ(logits[token], sorted[i]);
      EXPECT_NEAR(chosen.top_logprobs[i], log_softmax(logits, token), 1e-5);
    }
  }
}

TEST(Logprobs, IgnorePenaltyBiasTemperatureAndMask) {
  halogen_sampling_parameters parameters = plain();
  parameters.temperature = 0.1F;
  parameters.repetition_penalty = 3;
  const halogen_logit_bias bias{2, -100};
  parameters.biases = &bias;
  parameters.n_biases = 1;
  const uint32_t mask[] = {0b0001};
  const std::vector<float> logits = {1, 2, 3, 0};
  Sampler sampler(4);
  State state = sampler.state(parameters, {0, 1});
  const Chosen chosen = sampler.sample(logits, state, 4, mask);
  EXPECT_EQ(chosen.token, 0);
  EXPECT_FLOAT_EQ(chosen.logprob, static_cast<float>(log_softmax(logits, 0)));
  EXPECT_EQ(chosen.top_tokens, (std::vector<int32_t>{2, 1, 0, 3}));
  EXPECT_FLOAT_EQ(chosen.top_logprobs[0], static_cast<float>(log_softmax(logits, 2)));
}

TEST(Logprobs, TiesAreOrderedById) {
  Sampler sampler(4);
  State state = sampler.state(greedy());
  EXPECT_EQ(sampler.sample({1, 1, 0, 1}, state, 3).top_tokens, (std::vector<int32_t>{0, 1, 3}));
}

TEST(Logprobs, BeyondTheVocabularyTheListIsFilledUp) {
  Sampler sampler(2);
  State state = sampler.state(greedy());
  const Chosen chosen = sampler.sample({0, 1}, state, 3);
  EXPECT_EQ(chosen.top_tokens, (std::vector<int32_t>{1, 0, -1}));
  EXPECT_EQ(chosen.top_logprobs[2], -kInfinity);
}

TEST(Logprobs, HugeLogitsDoNotOverflow) {
  Sampler sampler(2);
  State state = sampler.state(greedy());
  EXPECT_FLOAT_EQ(sampler.sample({1e30F, 1e30F}, state, 0).logprob, std::log(0.5F));
}

}  // namespace
}  // namespace sampling
