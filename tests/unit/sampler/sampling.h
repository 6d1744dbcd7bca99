// A sampler and its states as a test uses them: through the factory, as the host does.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "halogen/sampler.h"

#include "core/check/reference/sampling.h"
#include "plugins/sampler/factory.h"

namespace sampling {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Everything off: temperature 1 over the whole vocabulary.
inline halogen_sampling_parameters plain() {
  return halogen::reference::stages_off();
}

inline halogen_sampling_parameters greedy() {
  halogen_sampling_parameters parameters = plain();
  parameters.temperature = 0;
  return parameters;
}

class State {
 public:
  State(halogen_sampler* sampler, const halogen_sampling_parameters& parameters,
        const std::vector<int32_t>& prompt, uint32_t max_tokens) {
    halogen_error error{};
    error.struct_size = sizeof error;
    const halogen_status status = sampler::factory.state_create(
        sampler, &parameters, prompt.data(), static_cast<uint32_t>(prompt.size()), max_tokens,
        &state_, &error);
    EXPECT_EQ(status, HALOGEN_OK) << error.message;
  }
  ~State() { sampler::factory.state_destroy(state_); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void accept(int32_t token) { sampler::factory.accept(state_, &token, 1); }
  halogen_sampling_state* get() const { return state_; }

 private:
  halogen_sampling_state* state_ = nullptr;
};

struct Chosen {
  int32_t token = 0;
  float logprob = 0;
  std::vector<int32_t> top_tokens;
  std::vector<float> top_logprobs;
};

class Sampler {
 public:
  explicit Sampler(uint32_t vocabulary_size, const halogen_config* config = nullptr)
      : vocabulary_size_(vocabulary_size) {
    EXPECT_EQ(sampler::factory.create(config, vocabulary_size, &sampler_, nullptr), HALOGEN_OK);
  }
  ~Sampler() { sampler::factory.destroy(sampler_); }
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  State state(const halogen_sampling_parameters& parameters,
              const std::vector<int32_t>& prompt = {0}, uint32_t max_tokens = 64) {
    return State(sampler_, parameters, prompt, max_tokens);
  }

  // One call for all rows; `masks` and `top` as in halogen_sample_batch.
  std::vector<Chosen> sample(const std::vector<std::vector<float>>& rows,
                             const std::vector<const State*>& states, int32_t top = -1,
                             const uint32_t* const* masks = nullptr) {
    std::vector<float> logits;
    for (const auto& row : rows) logits.insert(logits.end(), row.begin(), row.end());
    std::vector<halogen_sampling_state*> handles;
    for (const State* state : states) handles.push_back(state->get());
    const size_t stride = top > 0 ? static_cast<size_t>(top) : 0;
    std::vector<int32_t> wanted(rows.size(), top), tokens(rows.size()),
        top_tokens(rows.size() * stride);
    std::vector<float> logprobs(rows.size()), top_logprobs(rows.size() * stride);

    halogen_sample_batch batch{};
    batch.struct_size = sizeof batch;
    batch.n_rows = static_cast<uint32_t>(rows.size());
    batch.vocabulary_size = vocabulary_size_;
    batch.logits_stride = vocabulary_size_;
    batch.logits = logits.data();
    batch.states = handles.data();
    batch.masks = masks;
    batch.n_top_logprobs = wanted.data();
    batch.top_logprobs_stride = static_cast<uint32_t>(stride);
    batch.tokens = tokens.data();
    batch.logprobs = logprobs.data();
    batch.top_tokens = top_tokens.data();
    batch.top_logprobs = top_logprobs.data();
    halogen_error error{};
    error.struct_size = sizeof error;
    EXPECT_EQ(sampler::factory.sample(sampler_, &batch, &error), HALOGEN_OK) << error.message;

    std::vector<Chosen> chosen(rows.size());
    for (size_t i = 0; i < rows.size(); i++) {
      const auto from = static_cast<ptrdiff_t>(i * stride),
                 to = from + static_cast<ptrdiff_t>(stride);
      chosen[i] = {tokens[i],
                   logprobs[i],
                   {top_tokens.begin() + from, top_tokens.begin() + to},
                   {top_logprobs.begin() + from, top_logprobs.begin() + to}};
    }
    return chosen;
  }

  // A single row.
  Chosen sample(const std::vector<float>& row, const State& state, int32_t top = -1,
                const uint32_t* mask = nullptr) {
    return sample(std::vector<std::vector<float>>{row}, {&state}, top, &mask)[0];
  }

  halogen_sampler* get() const { return sampler_; }

 private:
  uint32_t vocabulary_size_;
  halogen_sampler* sampler_ = nullptr;
};

// How often each token comes out of `draws` draws from the same logits.
inline std::vector<int> frequencies(const std::vector<float>& logits,
                                    const halogen_sampling_parameters& parameters, int draws) {
  Sampler sampler(static_cast<uint32_t>(logits.size()));
  State state = sampler.state(parameters);
  std::vector<int> counts(logits.size(), 0);
  for (int i = 0; i < draws; i++) {
    const int32_t token = sampler.sample(logits, state).token;
    counts[static_cast<size_t>(token)]++;
    state.accept(token);
  }
  return counts;
}

// The tokens that come out at all.
inline std::vector<int32_t> possible(const std::vector<float>& logits,
                                     const halogen_sampling_parameters& parameters) {
  std::vector<int32_t> tokens;
  const std::vector<int> counts = frequencies(logits, parameters, 2000);
  for (size_t i = 0; i < counts.size(); i++)
    if (counts[i] > 0) tokens.push_back(static_cast<int32_t>(i));
  return tokens;
}

}  // namespace sampling
