// What is refused, and that the message names it.
#include <cstddef>

#include "sampling.h"

namespace sampling {
namespace {

std::string refusal(const halogen_sampling_parameters& parameters) {
  halogen_error error{};
  error.struct_size = sizeof error;
  if (sampler::factory.check(&parameters, &error) == HALOGEN_OK) return "";
  EXPECT_EQ(error.status, HALOGEN_E_INVALID);
  return error.message;
}

template <typename Change>
std::string refusal_with(Change change) {
  halogen_sampling_parameters parameters = plain();
  change(parameters);
  return refusal(parameters);
}

TEST(Checks, ParametersAtTheirLimitsPass) {
  EXPECT_EQ(refusal(plain()), "");
  EXPECT_EQ(refusal_with([](auto& p) {
              p.temperature = 0;
              p.top_p = 0;
              p.min_p = 1;
              p.top_k = 1 << 30;
              p.penalty_window = 0;
            }),
            "");
}

TEST(Checks, EachParameterOutOfRangeIsNamed) {
  EXPECT_EQ(refusal_with([](auto& p) { p.temperature = -1; }),
            "temperature is -1; it must be 0 or more");
  EXPECT_EQ(refusal_with([](auto& p) { p.temperature = kNan; }),
            "temperature is nan; it must be 0 or more");
  EXPECT_EQ(refusal_with([](auto& p) { p.top_k = -2; }), "top_k is -2; it must be 0 (off) or more");
  EXPECT_EQ(refusal_with([](auto& p) { p.top_p = 1.5F; }), "top_p is 1.5; it must be from 0 to 1");
  EXPECT_EQ(refusal_with([](auto& p) { p.min_p = -0.5F; }),
            "min_p is -0.5; it must be from 0 to 1");
  EXPECT_EQ(refusal_with([](auto& p) { p.repetition_penalty = 0; }),
            "repetition_penalty is 0; it must be above 0");
  EXPECT_EQ(refusal_with([](auto& p) { p.presence_penalty = kInfinity; }),
            "presence_penalty is inf; it must be finite");
  EXPECT_EQ(refusal_with([](auto& p) { p.frequency_penalty = kNan; }),
            "frequency_penalty is nan; it must be finite");
  EXPECT_EQ(refusal_with([](auto& p) { p.penalty_window = -2; }),
            "penalty_window is -2; it must be -1 (all tokens) or more");
  const halogen_logit_bias bias{3, kNan};
  EXPECT_EQ(refusal_with([&](auto& p) {
              p.biases = &bias;
              p.n_biases = 1;
            }),
            "logit_bias of token 3 is not a finite number; -100 bans a token");
}

TEST(Checks, EachNewerParameterOutOfRangeIsNamed) {
  EXPECT_EQ(refusal_with([](auto& p) { p.typical_p = 1.5F; }),
            "typical_p is 1.5; it must be from 0 to 1");
  EXPECT_EQ(refusal_with([](auto& p) { p.top_n_sigma = kNan; }),
            "top_n_sigma is nan; it must be finite");
  EXPECT_EQ(refusal_with([](auto& p) { p.xtc_probability = -0.5F; }),
            "xtc_probability is -0.5; it must be from 0 to 1");
  EXPECT_EQ(refusal_with([](auto& p) { p.xtc_threshold = 2; }),
            "xtc_threshold is 2; it must be from 0 to 1");
  EXPECT_EQ(refusal_with([](auto& p) { p.dynatemp_range = -1; }),
            "dynatemp_range is -1; it must be 0 (off) or more");
  EXPECT_EQ(refusal_with([](auto& p) { p.dry_base = 0.5F; }),
            "dry_base is 0.5; it must be 1 or more");
  EXPECT_EQ(refusal_with([](auto& p) { p.dry_penalty_last_n = -2; }),
            "dry_penalty_last_n is -2; it must be -1 (all tokens) or more");
  EXPECT_EQ(refusal_with([](auto& p) { p.mirostat = 3; }),
            "mirostat is 3; it must be 0 (off) or 2");
}

TEST(Checks, AChainHasKnownStagesEachOnce) {
  const uint32_t unknown[] = {1, 10}, twice[] = {4, 5, 4};
  EXPECT_EQ(refusal_with([&](auto& p) {
              p.stages = unknown;
              p.n_stages = 2;
            }),
            "samplers has a stage of number 10, which this sampler does not know");
  EXPECT_EQ(refusal_with([&](auto& p) {
              p.stages = twice;
              p.n_stages = 3;
            }),
            "samplers has stage 4 twice");
}

TEST(Checks, MirostatOneIsRefused) {
  halogen_sampling_parameters parameters = plain();
  parameters.mirostat = 1;
  halogen_error error{};
  error.struct_size = sizeof error;
  EXPECT_EQ(sampler::factory.check(&parameters, &error), HALOGEN_E_UNSUPPORTED);
  EXPECT_STREQ(error.message, "mirostat 1 is not supported; mirostat 2 aims at the same surprise");
}

TEST(Checks, AWriterOfTheFirstVersionGetsTheFirstVersionsStages) {
  // What lies behind its struct is not read, whatever it is.
  halogen_sampling_parameters parameters = plain();
  parameters.struct_size = offsetof(halogen_sampling_parameters, typical_p);
  parameters.typical_p = kNan;
  parameters.mirostat = 77;
  parameters.dry_multiplier = 100;
  parameters.n_dry_breakers = 1000;
  EXPECT_EQ(refusal(parameters), "");
  EXPECT_EQ(possible({0, 0, 0}, parameters), (std::vector<int32_t>{0, 1, 2}));
}

TEST(Checks, BreakersAreTokensOfTheVocabularyAndEndEach) {
  Sampler sampler(8);
  const auto refused = [&](const std::vector<int32_t>& breakers) {
    halogen_sampling_parameters parameters = plain();
    parameters.dry_multiplier = 1;
    parameters.dry_breakers = breakers.data();
    parameters.n_dry_breakers = static_cast<uint32_t>(breakers.size());
    halogen_error error{};
    error.struct_size = sizeof error;
    halogen_sampling_state* state = nullptr;
    EXPECT_EQ(
        sampler::factory.state_create(sampler.get(), &parameters, nullptr, 0, 4, &state, &error),
        HALOGEN_E_INVALID);
    return std::string(error.message);
  };
  EXPECT_EQ(refused({3, -1, 8, -1}), "a sequence breaker has token 8; the vocabulary has 8");
  EXPECT_EQ(refused({3, -1, -2}), "a sequence breaker has token -2; the vocabulary has 8");
  EXPECT_EQ(refused({3, -1, 4}), "the last sequence breaker lacks its -1");
}

TEST(Checks, ABiasOutsideTheVocabularyIsRefusedWithTheState) {
  Sampler sampler(8);
  const halogen_logit_bias bias{8, 1};
  halogen_sampling_parameters parameters = plain();
  parameters.biases = &bias;
  parameters.n_biases = 1;
  halogen_error error{};
  error.struct_size = sizeof error;
  halogen_sampling_state* state = nullptr;
  EXPECT_EQ(
      sampler::factory.state_create(sampler.get(), &parameters, nullptr, 0, 4, &state, &error),
      HALOGEN_E_INVALID);
  EXPECT_STREQ(error.message, "logit_bias names token 8; the vocabulary has 8");
  EXPECT_EQ(state, nullptr);
}

TEST(Checks, ABatchOfAnotherVocabularyIsRefused) {
  Sampler sampler(8);
  halogen_sample_batch batch{};
  batch.struct_size = sizeof batch;
  batch.vocabulary_size = 9;
  batch.logits_stride = 9;
  halogen_error error{};
  error.struct_size = sizeof error;
  EXPECT_EQ(sampler::factory.sample(sampler.get(), &batch, &error), HALOGEN_E_INVALID);
  EXPECT_STREQ(error.message,
               "the rows have 9 logits at a stride of 9; this sampler was made for 8");
}

}  // namespace
}  // namespace sampling
