// A sampler under test and its states, called as the engine calls them.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "halogen/sampler.h"

#include "core/base/result.h"
#include "core/check/reference/sampling.h"
#include "core/check/subject.h"

namespace halogen::check {

using reference::plain_parameters;
using reference::stages_off;
halogen_sampling_parameters greedy_parameters();

// A call that a case needs was refused.
struct Refused : std::runtime_error {
  Refused(halogen_status why, const std::string& message)
      : std::runtime_error(message), status(why) {}
  halogen_status status;
};

class SamplerState {
 public:
  SamplerState(const halogen_sampler_factory& factory, halogen_sampling_state* state)
      : factory_(&factory), state_(state) {}
  ~SamplerState() {
    if (state_) factory_->state_destroy(state_);
  }
  SamplerState(SamplerState&& other) noexcept
      : factory_(other.factory_), state_(std::exchange(other.state_, nullptr)) {}
  SamplerState& operator=(SamplerState&&) = delete;

  void accept(const std::vector<int32_t>& tokens) {
    factory_->accept(state_, tokens.data(), static_cast<uint32_t>(tokens.size()));
  }
  halogen_sampling_state* get() const { return state_; }

 private:
  const halogen_sampler_factory* factory_;
  halogen_sampling_state* state_;
};

// One row of a call.
struct SampleRow {
  const std::vector<float>& logits;
  const SamplerState& state;
  const std::vector<uint32_t>* mask = nullptr;
  int32_t top = -1;  // as n_top_logprobs
};
struct Chosen {
  int32_t token = 0;
  float logprob = 0;
  std::vector<int32_t> top_tokens;
  std::vector<float> top_logprobs;
};

class SamplerSession {
 public:
  // A sampler of the plugin with the command line's settings. Errors: why there is none.
  static Result<SamplerSession> open(Subject& subject, uint32_t vocabulary_size);
  ~SamplerSession();
  SamplerSession(SamplerSession&& other) noexcept;
  SamplerSession& operator=(SamplerSession&&) = delete;

  const halogen_sampler_factory& factory() const { return *factory_; }
  halogen_sampler* get() const { return sampler_; }

  // Throws Refused where the sampler refuses: a case that expects that calls the factory itself.
  SamplerState state(const halogen_sampling_parameters& parameters,
                     const std::vector<int32_t>& prompt = {0}, uint32_t max_tokens = 64) const;
  // The rows of one call, between numbers that nobody may look at. Throws as above.
  std::vector<Chosen> sample(const std::vector<SampleRow>& rows) const;
  Chosen sample_one(const SampleRow& row) const { return sample({row})[0]; }

 private:
  SamplerSession(const halogen_sampler_factory& factory, halogen_sampler* sampler, uint32_t size)
      : factory_(&factory), sampler_(sampler), vocabulary_size_(size) {}

  const halogen_sampler_factory* factory_;
  halogen_sampler* sampler_;
  uint32_t vocabulary_size_;
};

}  // namespace halogen::check
