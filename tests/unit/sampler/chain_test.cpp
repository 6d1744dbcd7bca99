// Whole chains through the sampler's table: every draw is the token that the formulae give for the
// random number of that draw.
#include <random>

#include "core/check/reference/sampling.h"
#include "plugins/sampler/philox.h"
#include "sampling.h"

namespace sampling {
namespace {

using Stages = std::vector<uint32_t>;

constexpr uint32_t kXtcStream = 1;

// The candidates after the stages of `parameters` in their order, with the random number that
// decides about XTC.
halogen::reference::TokenRow after_chain(const std::vector<float>& logits,
                                         const halogen_sampling_parameters& parameters,
                                         double xtc_draw) {
  halogen::reference::TokenRow row(logits);
  const Stages all = {3, 4, 5, 6, 7, 8, 9};
  const Stages given(parameters.stages, parameters.stages + parameters.n_stages);
  for (const uint32_t stage : parameters.stages == nullptr ? all : given)
    run_stage(row, stage, parameters, xtc_draw < parameters.xtc_probability);
  return row;
}

// The tokens that may come out at the share u of the probability: two where rounding decides.
std::vector<int32_t> tokens_at(const halogen::reference::TokenRow& row, double u) {
  constexpr double kRounding = 3e-6;
  std::vector<int32_t> tokens;
  double sum = 0;
  for (const auto& [token, p] : row.probabilities()) {
    if (u >= sum - kRounding && u < sum + p + kRounding) tokens.push_back(token);
    sum += p;
  }
  return tokens;
}

void expect_draws(const std::vector<float>& logits, halogen_sampling_parameters parameters,
                  int draws, const std::string& what) {
  Sampler sampler(static_cast<uint32_t>(logits.size()));
  State state = sampler.state(parameters);
  for (uint64_t i = 0; i < static_cast<uint64_t>(draws); i++) {
    const halogen::reference::TokenRow row =
        after_chain(logits, parameters, sampler::uniform(parameters.seed, i, kXtcStream));
    const std::vector<int32_t> expected = tokens_at(row, sampler::uniform(parameters.seed, i));
    const int32_t token = sampler.sample(logits, state).token;
    ASSERT_NE(std::find(expected.begin(), expected.end(), token), expected.end())
        << what << ", draw " << i << ": " << token;
    state.accept(token);
  }
}

halogen_sampling_parameters everything() {
  halogen_sampling_parameters parameters = plain();
  parameters.temperature = 1.3F;
  parameters.top_k = 60;
  parameters.top_p = 0.95F;
  parameters.min_p = 0.02F;
  parameters.typical_p = 0.97F;
  parameters.top_n_sigma = 2.5F;
  parameters.xtc_probability = 0.5F;
  parameters.xtc_threshold = 0.1F;
  parameters.seed = 99;
  return parameters;
}

std::vector<float> random_row(size_t size, float deviation, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, deviation);
  std::vector<float> logits(size);
  for (float& logit : logits) logit = normal(random);
  return logits;
}

TEST(Chain, DrawsByTheFormulaeInTheDefaultOrder) {
  expect_draws(random_row(200, 2, 1), everything(), 400, "all stages");
  expect_draws(random_row(3000, 1, 2), everything(), 100, "a longer row");
  halogen_sampling_parameters dynamic = everything();
  dynamic.dynatemp_range = 0.6F;
  dynamic.dynatemp_exponent = 2;
  expect_draws(random_row(200, 2, 3), dynamic, 200, "dynamic temperature");
}

TEST(Chain, DrawsByTheFormulaeInAnyOrder) {
  std::mt19937 random(23);
  Stages order = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  for (int round = 0; round < 40; round++) {
    std::shuffle(order.begin(), order.end(), random);
    halogen_sampling_parameters parameters = everything();
    parameters.stages = order.data();
    parameters.n_stages = static_cast<uint32_t>(round % 4 == 0 ? 5 : order.size());
    parameters.seed = random();
    if (round % 3 == 0) parameters.dynatemp_range = 0.5F;
    expect_draws(random_row(150, 2, static_cast<unsigned>(round)), parameters, 50,
                 "round " + std::to_string(round));
  }
}

TEST(Chain, TheOrderDecidesWhatTopPSees) {
  // Probabilities 0.5, 0.25, 0.125, 0.125; at a temperature of 2 their square roots, normalised:
  // 0.3694, 0.2612, 0.1847, 0.1847. Half of the probability is one token before and two after.
  const std::vector<float> logits = {std::log(0.5F), std::log(0.25F), std::log(0.125F),
                                     std::log(0.125F)};
  halogen_sampling_parameters parameters = plain();
  parameters.temperature = 2;
  parameters.top_p = 0.49F;
  const uint32_t last[] = {HALOGEN_STAGE_TOP_P, HALOGEN_STAGE_TEMPERATURE};
  parameters.stages = last;
  parameters.n_stages = 2;
  EXPECT_EQ(possible(logits, parameters), (std::vector<int32_t>{0}));
  const uint32_t first[] = {HALOGEN_STAGE_TEMPERATURE, HALOGEN_STAGE_TOP_P};
  parameters.stages = first;
  EXPECT_EQ(possible(logits, parameters), (std::vector<int32_t>{0, 1}));
}

TEST(Chain, PenaltiesAfterAStageSeeOnlyWhatItLeft) {
  // Penalties first make token 0 the third; after top-k 2 they cannot bring token 2 back.
  halogen_sampling_parameters parameters = plain();
  parameters.presence_penalty = 2;
  parameters.top_k = 2;
  Sampler sampler(3);
  const auto seen = [&](const Stages& order) {
    parameters.stages = order.data();
    parameters.n_stages = static_cast<uint32_t>(order.size());
    std::vector<int32_t> tokens(3, 0);
    for (parameters.seed = 0; parameters.seed < 200; parameters.seed++) {
      State state = sampler.state(parameters, {1});
      state.accept(0);
      tokens[static_cast<size_t>(sampler.sample({3, 2.5F, 2}, state).token)] = 1;
    }
    return tokens;
  };
  EXPECT_EQ(seen({HALOGEN_STAGE_PENALTIES, HALOGEN_STAGE_TOP_K}), (std::vector<int32_t>{0, 1, 1}));
  EXPECT_EQ(seen({HALOGEN_STAGE_TOP_K, HALOGEN_STAGE_PENALTIES}), (std::vector<int32_t>{1, 1, 0}));
}

TEST(Chain, AStageThatIsNotListedDoesNotRun) {
  halogen_sampling_parameters parameters = everything();
  const uint32_t only[] = {HALOGEN_STAGE_TEMPERATURE};
  parameters.stages = only;
  parameters.n_stages = 0;  // not even that
  expect_draws(random_row(20, 1, 5), parameters, 300, "no stages");
}

TEST(Chain, AtTemperatureZeroOnlyChangesOfLogitsCount) {
  halogen_sampling_parameters parameters = everything();
  parameters.temperature = 0;
  parameters.xtc_probability = 1;
  parameters.dynatemp_range = 1;
  parameters.mirostat = 2;
  parameters.presence_penalty = 1.5F;
  Sampler sampler(3);
  State state = sampler.state(parameters, {1});
  EXPECT_EQ(sampler.sample({3, 2, 1}, state).token, 0);
  state.accept(0);
  EXPECT_EQ(sampler.sample({3, 2, 1}, state).token, 1);
}

TEST(Chain, NothingBringsBackWhatIsBanned) {
  Sampler sampler(40);
  const std::vector<float> logits = random_row(40, 2, 8);
  const halogen_logit_bias ban{7, -100};
  halogen_sampling_parameters parameters = everything();
  parameters.biases = &ban;
  parameters.n_biases = 1;
  parameters.presence_penalty = -2;
  parameters.dry_multiplier = 1;
  const uint32_t mask[] = {0x0FFFF0FF, 0xF0};
  Stages order = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::mt19937 random(4);
  for (int round = 0; round < 30; round++) {
    std::shuffle(order.begin(), order.end(), random);
    parameters.stages = order.data();
    parameters.n_stages = 9;
    parameters.seed = random();
    State state = sampler.state(parameters, {7, 8, 9, 7, 8});
    for (int draw = 0; draw < 50; draw++) {
      const int32_t token = sampler.sample(logits, state, -1, mask).token;
      ASSERT_TRUE((mask[token / 32] >> (token % 32) & 1) != 0 && token != 7) << token;
      state.accept(token);
    }
  }
}

TEST(Chain, ARowWithoutAPossibleTokenGivesMinusOneInEveryStage) {
  Sampler sampler(3);
  Stages order = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  for (uint32_t first = 1; first <= 9; first++) {
    std::swap(order[0], order[first - 1]);
    halogen_sampling_parameters parameters = everything();
    parameters.presence_penalty = 1;
    parameters.dry_multiplier = 1;
    parameters.dynatemp_range = 0.5F;
    parameters.stages = order.data();
    parameters.n_stages = 9;
    State state = sampler.state(parameters, {1, 2, 1, 2});
    EXPECT_EQ(sampler.sample({kNan, -kInfinity, kNan}, state).token, -1);
    parameters.mirostat = 2;
    State mirostat = sampler.state(parameters, {1, 2, 1, 2});
    EXPECT_EQ(sampler.sample({kNan, -kInfinity, kNan}, mirostat).token, -1);
  }
}

TEST(Chain, NotANumberIsNeverChosenByAnyStage) {
  Sampler sampler(5);
  halogen_sampling_parameters parameters = everything();
  parameters.dynatemp_range = 0.5F;
  for (parameters.seed = 0; parameters.seed < 50; parameters.seed++) {
    State state = sampler.state(parameters);
    const int32_t token = sampler.sample({kNan, 1, kNan, 2, -kInfinity}, state).token;
    EXPECT_TRUE(token == 1 || token == 3) << token;
  }
}

}  // namespace
}  // namespace sampling
