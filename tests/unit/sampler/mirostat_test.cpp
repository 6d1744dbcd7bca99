// Mirostat 2: the limit's way, step by step, against the authors' rule in float64.
#include "plugins/sampler/mirostat.h"

#include "core/check/reference/sampling.h"
#include "plugins/sampler/philox.h"
#include "sampling.h"

namespace sampling {
namespace {

TEST(Mirostat, TheLimitMovesAgainstTheError) {
  sampler::Mirostat mirostat(3, 0.5);
  EXPECT_EQ(mirostat.limit(), 6);
  mirostat.drawn(4, 0.25);  // 2 bits, 1 less than aimed at
  EXPECT_EQ(mirostat.limit(), 6);
  mirostat.accept(4);
  EXPECT_EQ(mirostat.limit(), 6.5);
  mirostat.drawn(4, 1 / 64.0);  // 6 bits
  mirostat.accept(4);
  EXPECT_EQ(mirostat.limit(), 5);
}

TEST(Mirostat, ATokenThatWasNotDrawnLeavesTheLimit) {
  sampler::Mirostat mirostat(3, 0.5);
  mirostat.drawn(4, 0.25);
  mirostat.accept(5);
  mirostat.accept(4);
  EXPECT_EQ(mirostat.limit(), 6);
}

halogen_sampling_parameters aiming_at(float tau, float eta) {
  halogen_sampling_parameters parameters = plain();
  parameters.mirostat = 2;
  parameters.mirostat_tau = tau;
  parameters.mirostat_eta = eta;
  parameters.temperature = 0.9F;
  parameters.seed = 12;
  return parameters;
}

std::vector<float> zipf(size_t size) {
  std::vector<float> logits;
  for (size_t i = 0; i < size; i++) logits.push_back(-std::log(static_cast<float>(i + 1)));
  return logits;
}

TEST(Mirostat, DrawsWhatTheAuthorsRuleGives) {
  const std::vector<float> logits = zipf(400);
  const halogen_sampling_parameters parameters = aiming_at(4, 0.2F);
  Sampler sampler(400);
  State state = sampler.state(parameters);
  double limit = 2 * double{parameters.mirostat_tau};
  for (uint64_t i = 0; i < 500; i++) {
    halogen::reference::TokenRow row(logits);
    row.temperature(parameters.temperature);
    row.mirostat(limit);
    const double u = sampler::uniform(parameters.seed, i);
    double sum = 0, drawn = 0;
    int32_t expected = -1;
    for (const auto& [token, p] : row.probabilities()) {
      if (sum <= u) {
        expected = token;
        drawn = p;
      }
      sum += p;
    }
    const int32_t token = sampler.sample(logits, state).token;
    ASSERT_EQ(token, expected) << "draw " << i;
    state.accept(token);
    limit -=
        double{parameters.mirostat_eta} * (-std::log2(drawn) - double{parameters.mirostat_tau});
  }
}

TEST(Mirostat, TheMeanSurpriseComesNearTheOneAimedAt) {
  const std::vector<float> logits = zipf(2000);
  for (const float tau : {2.0F, 3.0F, 5.0F}) {
    Sampler sampler(2000);
    State state = sampler.state(aiming_at(tau, 0.1F));
    double surprise = 0, limit = 2 * double{tau};
    constexpr int kDraws = 2000;
    for (int i = 0; i < kDraws; i++) {
      halogen::reference::TokenRow row(logits);
      row.temperature(0.9F);
      row.mirostat(limit);
      const int32_t token = sampler.sample(logits, state).token;
      state.accept(token);
      const double bits = -std::log2(row.probabilities().at(token));
      limit -= double{0.1F} * (bits - tau);
      if (i >= kDraws / 4) surprise += bits / (kDraws - kDraws / 4);
    }
    EXPECT_NEAR(surprise, tau, 0.1) << "tau " << tau;
  }
}

TEST(Mirostat, ReplacesTheStagesThatDropTokens) {
  halogen_sampling_parameters parameters = aiming_at(5, 0);  // the limit stays at 10 bits
  parameters.temperature = 1;
  parameters.top_k = 1;
  parameters.top_p = 0.1F;
  parameters.min_p = 0.9F;
  parameters.typical_p = 0.1F;
  parameters.top_n_sigma = 0.1F;
  parameters.xtc_probability = 1;
  parameters.xtc_threshold = 0;
  EXPECT_EQ(possible({0, 0, 0, 0}, parameters), (std::vector<int32_t>{0, 1, 2, 3}));
}

TEST(Mirostat, SamplingAgainWithoutAcceptingChangesNothing) {
  const std::vector<float> logits = zipf(100);
  Sampler sampler(100);
  State once = sampler.state(aiming_at(2, 1)), often = sampler.state(aiming_at(2, 1));
  for (int i = 0; i < 100; i++) {
    const int32_t token = sampler.sample(logits, once).token;
    for (int again = 0; again < 3; again++)
      ASSERT_EQ(sampler.sample(logits, often).token, token) << "draw " << i;
    once.accept(token);
    often.accept(token);
  }
}

}  // namespace
}  // namespace sampling
