// What each stage leaves and how probable it is: by hand on small rows, and against the formulae on
// random ones.
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "core/check/reference/sampling.h"
#include "plugins/sampler/candidates.h"

namespace sampling {
namespace {

using sampler::Candidates;
using Probabilities = std::map<int32_t, double>;

Probabilities after(std::vector<float> logits, const std::function<void(Candidates&)>& stages,
                    const sampler::RowMath& math = sampler::row_math()) {
  Candidates candidates(static_cast<uint32_t>(logits.size()), math);
  candidates.start(logits, nullptr);
  stages(candidates);
  Probabilities probabilities;
  candidates.each([&](int32_t token, double p) { probabilities[token] = p; });
  return probabilities;
}

void expect_near(const Probabilities& actual, const Probabilities& expected,
                 const std::string& what) {
  std::vector<int32_t> kept, wanted;
  for (const auto& [token, p] : actual) kept.push_back(token);
  for (const auto& [token, p] : expected) wanted.push_back(token);
  ASSERT_EQ(kept, wanted) << what;
  for (const auto& [token, p] : expected)
    ASSERT_NEAR(actual.at(token), p, 1e-7 + 2e-6 * p) << what << ", token " << token;
}

// Logits of these probabilities.
std::vector<float> logits_of(const std::vector<double>& probabilities) {
  std::vector<float> logits;
  for (const double p : probabilities) logits.push_back(static_cast<float>(std::log(p)));
  return logits;
}

TEST(Stages, TypicalKeepsTheTokensNearestToTheExpectedSurprise) {
  // Entropy 1.0889 nats; the surprises are 0.916, 1.204 and 1.204, so that the two of 0.3 are
  // nearest (0.115 away), then the best (0.173).
  const auto logits = logits_of({0.4, 0.3, 0.3});
  expect_near(after(logits, [](Candidates& c) { c.keep_typical(0.2); }), {{1, 1}}, "0.2");
  expect_near(after(logits, [](Candidates& c) { c.keep_typical(0.5); }), {{1, 0.5}, {2, 0.5}},
              "0.5");
  expect_near(after(logits, [](Candidates& c) { c.keep_typical(0.9); }),
              {{0, 0.4}, {1, 0.3}, {2, 0.3}}, "0.9");
  expect_near(after(logits, [](Candidates& c) { c.keep_typical(0); }), {{1, 1}}, "0");
}

TEST(Stages, TopNSigmaKeepsWhatIsWithinDeviationsOfTheLargest) {
  // Mean 1.5, deviation sqrt(1.25) = 1.118: down to 3 - 1.118 = 1.882, or 3 - 2.236 = 0.764.
  const std::vector<float> logits = {0, 1, 2, 3};
  const double sum1 = std::exp(-1.0) + 1, sum2 = std::exp(-2.0) + sum1;
  expect_near(after(logits, [](Candidates& c) { c.keep_deviations(1); }),
              {{2, std::exp(-1.0) / sum1}, {3, 1 / sum1}}, "1");
  expect_near(after(logits, [](Candidates& c) { c.keep_deviations(2); }),
              {{1, std::exp(-2.0) / sum2}, {2, std::exp(-1.0) / sum2}, {3, 1 / sum2}}, "2");
}

TEST(Stages, TopNSigmaCountsOnlyWhatIsPossible) {
  const float banned = -HUGE_VALF;
  const double sum = std::exp(-1.0) + 1;
  expect_near(after({0, banned, 1, 2, 3, banned}, [](Candidates& c) { c.keep_deviations(1); }),
              {{3, std::exp(-1.0) / sum}, {4, 1 / sum}}, "1");
}

TEST(Stages, XtcLeavesTheLeastOfTheTopChoices) {
  const auto logits = logits_of({0.1, 0.4, 0.2, 0.25, 0.05});
  expect_near(after(logits, [](Candidates& c) { c.exclude_top_choices(0.15); }),
              {{0, 0.1 / 0.35}, {2, 0.2 / 0.35}, {4, 0.05 / 0.35}}, "0.15");
  expect_near(after(logits, [](Candidates& c) { c.exclude_top_choices(0.3); }),
              {{0, 0.1}, {1, 0.4}, {2, 0.2}, {3, 0.25}, {4, 0.05}}, "one is above");
}

TEST(Stages, XtcLeavesTheHighestIdOfATie) {
  expect_near(after({0, 0, 0, 0}, [](Candidates& c) { c.exclude_top_choices(0.2); }), {{3, 1}},
              "tie");
}

TEST(Stages, DynamicTemperatureIsHighWhereAllIsEquallyLikely) {
  // Two equal tokens have all the entropy there can be, so that the temperature is the highest; it
  // does not change them.
  expect_near(after({1, 1}, [](Candidates& c) { c.heat_by_entropy(0.5, 2, 1); }),
              {{0, 0.5}, {1, 0.5}}, "equal");
  // Probabilities of 3/4 and 1/4: the entropy is 0.8113 bits of 1, the temperature 0.5 + 1.5 *
  // 0.811278 = 1.716917 and the odds 3^(1 / 1.716917) = 1.896244.
  expect_near(after(logits_of({0.75, 0.25}), [](Candidates& c) { c.heat_by_entropy(0.5, 2, 1); }),
              {{0, 1.8962437278 / 2.8962437278}, {1, 1 / 2.8962437278}}, "odds of 3");
}

TEST(Stages, MirostatKeepsWhatIsNotTooSurprising) {
  const auto logits = logits_of({0.5, 0.25, 0.125, 0.125});  // 1, 2, 3 and 3 bits
  expect_near(after(logits, [](Candidates& c) { c.keep_unsurprising(2.1); }),
              {{0, 2 / 3.0}, {1, 1 / 3.0}}, "2.1 bits");
  expect_near(after(logits, [](Candidates& c) { c.keep_unsurprising(0.2); }), {{0, 1}}, "0.2 bits");
  expect_near(after({0, 1, 1, 0}, [](Candidates& c) { c.keep_unsurprising(-3); }), {{1, 1}},
              "below 0");
}

// One random row of each kind that makes a difference: peaked, flat, with ties, with banned tokens,
// longer than the selections' short cuts.
std::vector<float> random_row(std::mt19937& random, int kind) {
  const size_t size = kind % 3 == 2 ? 5000 : 1 + random() % 300;
  std::normal_distribution<float> normal(0, kind % 2 == 0 ? 3.0F : 0.2F);
  std::vector<float> logits(size);
  for (float& logit : logits) {
    logit = normal(random);
    if (kind % 5 == 4) logit = std::round(logit * 4) / 4;
    if (kind % 7 == 6 && random() % 3 == 0) logit = -HUGE_VALF;
  }
  logits[random() % size] = 1;  // one is possible
  return logits;
}

struct Compared {
  const char* name;
  std::function<void(Candidates&, float)> stage;
  std::function<void(halogen::reference::TokenRow&, float)> formula;
};

const Compared kCompared[] = {
    {"top_k", [](auto& c, float x) { c.keep_top(1 + static_cast<uint32_t>(x * 400)); },
     [](auto& r, float x) { r.top_k(1 + static_cast<size_t>(x * 400)); }},
    {"top_p", [](auto& c, float x) { c.keep_nucleus(x); }, [](auto& r, float x) { r.top_p(x); }},
    {"min_p", [](auto& c, float x) { c.drop_unlikely(x); }, [](auto& r, float x) { r.min_p(x); }},
    {"typical_p", [](auto& c, float x) { c.keep_typical(x); },
     [](auto& r, float x) { r.typical_p(x); }},
    {"top_n_sigma", [](auto& c, float x) { c.keep_deviations(3 * x); },
     [](auto& r, float x) { r.top_n_sigma(3 * x); }},
    {"xtc", [](auto& c, float x) { c.exclude_top_choices(x / 8); },
     [](auto& r, float x) { r.xtc(x / 8); }},
    {"mirostat", [](auto& c, float x) { c.keep_unsurprising(12 * x); },
     [](auto& r, float x) { r.mirostat(12 * x); }},
    {"temperature", [](auto& c, float x) { c.heat(x + 0.1F); },
     [](auto& r, float x) { r.temperature(x + 0.1F); }},
    {"dynamic temperature", [](auto& c, float x) { c.heat_by_entropy(0.3, 0.3 + 2.0 * x, 1.5); },
     [](auto& r, float x) { r.dynamic_temperature(0.3 + x, x, 1.5); }},
};

class StagesOnRandomRows : public testing::TestWithParam<Compared> {};

TEST_P(StagesOnRandomRows, AgreeWithTheFormula) {
  std::mt19937 random(17);
  for (int round = 0; round < 140; round++) {
    const std::vector<float> logits = random_row(random, round);
    const float x = (static_cast<float>(random() % 997) + 1) / 999;
    halogen::reference::TokenRow row(logits);
    GetParam().formula(row, x);
    const std::string what = "round " + std::to_string(round) + ", x " + std::to_string(x);
    expect_near(after(logits, [&](Candidates& c) { GetParam().stage(c, x); }), row.probabilities(),
                what);
    // Behind another stage, which has left a list of tokens in place of the whole row.
    halogen::reference::TokenRow shorter(logits);
    shorter.temperature(0.8F);
    shorter.top_k(50);
    GetParam().formula(shorter, x);
    expect_near(after(logits,
                      [&](Candidates& c) {
                        c.heat(0.8F);
                        c.keep_top(50);
                        GetParam().stage(c, x);
                      }),
                shorter.probabilities(), what + " behind top-k");
  }
}

INSTANTIATE_TEST_SUITE_P(Sampler, StagesOnRandomRows, testing::ValuesIn(kCompared),
                         [](const auto& each) {
                           std::string name = each.param.name;
                           std::erase_if(name, [](char c) { return c == '_' || c == ' '; });
                           return name;
                         });

TEST(Stages, AChangeAfterTheTemperatureIsOfTheDividedLogits) {
  const auto probabilities = after({2, 4, 6}, [](Candidates& c) {
    c.heat(2);  // 1, 2, 3
    c.begin_changes();
    *c.logit_of(2) -= 2;
  });
  const double sum = 2 + std::exp(1.0);
  expect_near(probabilities, {{0, 1 / sum}, {1, std::exp(1.0) / sum}, {2, 1 / sum}}, "1, 2, 1");
}

TEST(Stages, ADroppedTokenCannotBeChanged) {
  after({5, 1, 4, 2}, [](Candidates& c) {
    c.keep_top(2);
    c.begin_changes();
    EXPECT_NE(c.logit_of(0), nullptr);
    EXPECT_EQ(c.logit_of(1), nullptr);
    EXPECT_EQ(*c.logit_of(2), 4);
    EXPECT_EQ(c.logit_of(3), nullptr);
  });
}

TEST(Stages, ATinyTemperatureLeavesTheBestAndItsEquals) {
  expect_near(after({1, 3, 3, 2}, [](Candidates& c) { c.heat(1e-40); }),
              {{0, 0}, {1, 0.5}, {2, 0.5}, {3, 0}}, "1e-40");
}

}  // namespace
}  // namespace sampling
