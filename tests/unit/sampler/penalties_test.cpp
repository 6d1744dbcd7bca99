// Penalties seen through the greedy choice and through the logits that sample leaves behind.
#include "plugins/sampler/penalties.h"

#include <map>
#include <random>

#include "sampling.h"

namespace sampling {
namespace {

// The row after penalties, in float, as the sampler leaves it.
std::vector<float> penalised(const halogen_sampling_parameters& given,
                             const std::vector<int32_t>& prompt, const std::vector<int32_t>& answer,
                             std::vector<float> logits) {
  sampler::TokenHistory history(prompt, 64, given.penalty_window,
                                static_cast<uint32_t>(logits.size()));
  for (int32_t token : answer) history.accept(token);
  sampler::Candidates candidates(static_cast<uint32_t>(logits.size()), sampler::row_math());
  candidates.start(logits, nullptr);
  sampler::apply_penalties(sampler::copy(given), history.entries(), candidates);
  return logits;
}

TEST(Penalties, RepetitionDividesPositiveAndMultipliesNegativeLogitsOfSeenTokens) {
  halogen_sampling_parameters parameters = plain();
  parameters.repetition_penalty = 2;
  EXPECT_EQ(penalised(parameters, {0, 1}, {2}, {4, -4, 3, 5}),
            (std::vector<float>{2, -8, 1.5F, 5}));
}

TEST(Penalties, RepetitionCountsATokenOnce) {
  halogen_sampling_parameters parameters = plain();
  parameters.repetition_penalty = 2;
  EXPECT_EQ(penalised(parameters, {0, 0, 0}, {0, 0}, {4, 1}), (std::vector<float>{2, 1}));
}

TEST(Penalties, PresenceAndFrequencyCountOnlyWhatWasGenerated) {
  halogen_sampling_parameters parameters = plain();
  parameters.presence_penalty = 0.5F;
  parameters.frequency_penalty = 0.25F;
  EXPECT_EQ(penalised(parameters, {0, 0, 1}, {1, 1, 2}, {3, 3, 3, 3}),
            (std::vector<float>{3, 2, 2.25F, 3}));
}

TEST(Penalties, OnlyTheLastTokensOfTheWindowCount) {
  halogen_sampling_parameters parameters = plain();
  parameters.repetition_penalty = 2;
  parameters.frequency_penalty = 1;
  parameters.penalty_window = 3;
  // The last three are 3 (prompt), 0, 1 (generated).
  EXPECT_EQ(penalised(parameters, {0, 1, 2, 3}, {0, 1}, {8, 8, 8, 8}),
            (std::vector<float>{3, 3, 8, 4}));
}

TEST(Penalties, AWindowOfZeroSwitchesThemOff) {
  halogen_sampling_parameters parameters = greedy();
  parameters.repetition_penalty = 100;
  parameters.penalty_window = 0;
  Sampler sampler(2);
  State state = sampler.state(parameters, {1});
  EXPECT_EQ(sampler.sample({1, 2}, state).token, 1);
}

TEST(Penalties, FollowWhatIsAcceptedAndNotWhatIsSampled) {
  halogen_sampling_parameters parameters = greedy();
  parameters.presence_penalty = 2;
  Sampler sampler(3);
  State state = sampler.state(parameters, {0});
  EXPECT_EQ(sampler.sample({0, 1, 2}, state).token, 2);
  EXPECT_EQ(sampler.sample({0, 1, 2}, state).token, 2);
  state.accept(2);
  EXPECT_EQ(sampler.sample({0, 1, 2}, state).token, 1);
}

TEST(Penalties, ComeAfterTheBias) {
  halogen_sampling_parameters parameters = greedy();
  parameters.repetition_penalty = 2;
  const halogen_logit_bias bias{0, 3};
  parameters.biases = &bias;
  parameters.n_biases = 1;
  Sampler sampler(2);
  State state = sampler.state(parameters, {0});
  // (2 + 3) / 2 = 2.5 does not beat 3.5; 2 / 2 + 3 = 4 would.
  EXPECT_EQ(sampler.sample({2, 3.5F}, state).token, 1);
}

TEST(TokenHistory, CountsLikeARecountOfTheWholeSequence) {
  std::mt19937 random(3);
  for (int32_t window : {-1, 1, 2, 7, 50, 1000}) {
    std::vector<int32_t> sequence;
    const size_t prompt_length = random() % 40;
    for (size_t i = 0; i < prompt_length; i++)
      sequence.push_back(static_cast<int32_t>(random() % 30));
    const uint32_t announced = window < 10 ? 10 : 200;  // or far more than were announced
    sampler::TokenHistory history(sequence, announced, window, 30);
    for (int step = 0; step < 200; step++) {
      std::map<int32_t, std::pair<uint32_t, uint32_t>> expected;
      const size_t last = window < 0 ? sequence.size() : static_cast<size_t>(window);
      for (size_t i = sequence.size() - std::min(sequence.size(), last); i < sequence.size(); i++) {
        expected[sequence[i]].first++;
        expected[sequence[i]].second += i >= prompt_length;
      }
      std::map<int32_t, std::pair<uint32_t, uint32_t>> counted;
      for (const auto& entry : history.entries())
        if (entry.seen > 0) counted[entry.token] = {entry.seen, entry.generated};
      ASSERT_EQ(counted, expected) << "window " << window << ", step " << step;
      sequence.push_back(static_cast<int32_t>(random() % 30));
      history.accept(sequence.back());
    }
  }
}

}  // namespace
}  // namespace sampling
