// What comes out over many draws, and that a seed decides it alone. The seeds are fixed, so these
// tests give the same verdict every time.
#include <cmath>
#include <functional>

#include "core/check/reference/sampling.h"
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
constexpr int kManyDraws = 120000;

// The 0.999 quantile of chi-squared (Wilson and Hilferty 1931).
double most_by_chance(size_t degrees) {
  const double part = 2.0 / (9.0 * static_cast<double>(degrees));
  return static_cast<double>(degrees) * std::pow(1 - part + 3.0902 * std::sqrt(part), 3);
}

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

// A row where every stage has something to drop and something to keep.
std::vector<float> varied_row() {
  std::vector<float> logits;
  for (int i = 0; i < 24; i++) logits.push_back(2.5F * std::cos(static_cast<float>(i)));
  return logits;
}

void expect_distribution(const halogen_sampling_parameters& parameters,
                         const std::function<void(halogen::reference::TokenRow&)>& formulae) {
  const std::vector<float> logits = varied_row();
  halogen::reference::TokenRow row(logits);
  formulae(row);
  std::vector<double> expected(logits.size(), 0);
  for (const auto& [token, p] : row.probabilities()) expected[static_cast<size_t>(token)] = p;
  const auto possible = static_cast<size_t>(
      std::count_if(expected.begin(), expected.end(), [](double p) { return p > 0; }));
  ASSERT_GT(possible, 1U);
  EXPECT_LT(chi_squared(frequencies(logits, parameters, kManyDraws), expected),
            most_by_chance(possible - 1));
}

TEST(Distribution, OfEachStageIsThatOfItsFormula) {
  const auto with = [](auto change) {
    halogen_sampling_parameters parameters = plain();
    parameters.seed = 7;
    change(parameters);
    return parameters;
  };
  expect_distribution(with([](auto& p) { p.top_k = 9; }), [](auto& row) { row.top_k(9); });
  expect_distribution(with([](auto& p) { p.top_p = 0.8F; }), [](auto& row) { row.top_p(0.8); });
  expect_distribution(with([](auto& p) { p.min_p = 0.1F; }), [](auto& row) { row.min_p(0.1); });
  expect_distribution(with([](auto& p) { p.typical_p = 0.7F; }),
                      [](auto& row) { row.typical_p(0.7); });
  expect_distribution(with([](auto& p) { p.top_n_sigma = 1; }),
                      [](auto& row) { row.top_n_sigma(1); });
  expect_distribution(with([](auto& p) {
                        p.xtc_probability = 1;
                        p.xtc_threshold = 0.08F;
                      }),
                      [](auto& row) { row.xtc(0.08); });
  expect_distribution(with([](auto& p) {
                        p.temperature = 1.2F;
                        p.dynatemp_range = 0.7F;
                        p.dynatemp_exponent = 0.5F;
                      }),
                      [](auto& row) { row.dynamic_temperature(1.2, 0.7, 0.5); });
  expect_distribution(with([](auto& p) {
                        p.mirostat = 2;
                        p.mirostat_tau = 2;
                        p.mirostat_eta = 0;  // the limit stays at 4 bits
                      }),
                      [](auto& row) { row.mirostat(4); });
}

TEST(Distribution, OfChainsIsThatOfTheirFormulae) {
  halogen_sampling_parameters parameters = plain();
  parameters.seed = 8;
  parameters.temperature = 0.8F;
  parameters.top_k = 18;
  parameters.typical_p = 0.95F;
  parameters.top_p = 0.9F;
  parameters.min_p = 0.05F;
  expect_distribution(parameters, [](auto& row) {
    row.top_k(18);
    row.temperature(0.8F);
    row.typical_p(0.95F);
    row.top_p(0.9F);
    row.min_p(0.05F);
  });
  const uint32_t backwards[] = {HALOGEN_STAGE_MIN_P, HALOGEN_STAGE_TOP_P, HALOGEN_STAGE_TYPICAL_P,
                                HALOGEN_STAGE_TEMPERATURE};
  parameters.stages = backwards;
  parameters.n_stages = 4;
  expect_distribution(parameters, [](auto& row) {
    row.min_p(0.05F);
    row.top_p(0.9F);
    row.typical_p(0.95F);
    row.temperature(0.8F);
  });
}

TEST(Distribution, XtcHappensAsOftenAsItShould) {
  // Between three tokens of probabilities 0.5, 0.3 and 0.2, the two best are excluded in 40 % of
  // the draws, independently of what is drawn otherwise.
  halogen_sampling_parameters parameters = plain();
  parameters.seed = 9;
  parameters.xtc_probability = 0.4F;
  parameters.xtc_threshold = 0.15F;
  const std::vector<float> logits = {std::log(0.5F), std::log(0.3F), std::log(0.2F)};
  EXPECT_LT(chi_squared(frequencies(logits, parameters, kManyDraws),
                        {0.6 * 0.5, 0.6 * 0.3, 0.4 + 0.6 * 0.2}),
            most_by_chance(2));
}

TEST(Distribution, SeesThePenaltyOfARepetition) {
  // After "1 2 1" token 2 would extend a repetition of one token: 0.7 * 2^(1 - 0) off its logit.
  halogen_sampling_parameters parameters = plain();
  parameters.dry_multiplier = 0.7F;
  parameters.dry_base = 2;
  parameters.dry_allowed_length = 0;
  Sampler sampler(3);
  std::vector<int> counts(3, 0);
  for (parameters.seed = 0; parameters.seed < kManyDraws; parameters.seed++) {
    State state = sampler.state(parameters, {1, 2, 1}, 1);
    counts[static_cast<size_t>(sampler.sample({0, 0, 0}, state).token)]++;
  }
  const double share = std::exp(-1.4), sum = 2 + share;
  EXPECT_LT(chi_squared(counts, {1 / sum, 1 / sum, share / sum}), most_by_chance(2));
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
