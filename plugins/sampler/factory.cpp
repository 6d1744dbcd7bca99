#include "factory.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "halogen/cxx/plugin.hpp"

#include "row_team.h"

struct halogen_sampler {
  uint32_t vocabulary_size;
  std::unique_ptr<sampler::RowTeam> team;
};

namespace sampler {

namespace {

const halogen_host* threads_of = nullptr;

// Beyond this a batch has hardly more rows than threads, and each has a scratch of its own.
constexpr unsigned kMostThreadsUnasked = 16;

const halogen_config_key kThreads = {
    sizeof(halogen_config_key),
    HALOGEN_CONFIG_INT,
    "threads",
    "0",
    "Threads that share the rows of a step; 0: one for each processor, 16 at most.",
    0,
    256,
    nullptr,
    false};
const halogen_config_key* const kConfigKeys[] = {&kThreads};

halogen_status create(const halogen_config* config, uint32_t vocabulary_size,
                      halogen_sampler** sampler, halogen_error* error) {
  return halogen::guarded(error, [&]() -> halogen_status {
    auto threads = static_cast<unsigned>(halogen::Config(config).integer("threads"));
    if (threads == 0)
      threads = std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreadsUnasked);
    auto team = RowTeam::start(threads_of, threads, vocabulary_size, error);
    if (!team) return error != nullptr ? error->status : HALOGEN_E_INTERNAL;
    *sampler = new halogen_sampler{vocabulary_size, std::move(team)};
    return HALOGEN_OK;
  });
}

void destroy(halogen_sampler* sampler) {
  delete sampler;
}

halogen_status check_parameters(const halogen_sampling_parameters* parameters,
                                halogen_error* error) {
  return halogen::guarded(error, [&] { return check(*parameters, error); });
}

halogen_status check_prompt(const int32_t* prompt, uint32_t n_prompt, uint32_t vocabulary_size,
                            halogen_error* error) {
  for (uint32_t i = 0; i < n_prompt; i++) {
    if (prompt[i] >= 0 && std::cmp_less(prompt[i], vocabulary_size)) continue;
    return halogen::failed(error, HALOGEN_E_INVALID,
                           "token " + std::to_string(i) + " of the prompt is " +
                               std::to_string(prompt[i]) + "; the vocabulary has " +
                               std::to_string(vocabulary_size));
  }
  return HALOGEN_OK;
}

halogen_status state_create(halogen_sampler* sampler, const halogen_sampling_parameters* parameters,
                            const int32_t* prompt, uint32_t n_prompt, uint32_t max_tokens,
                            halogen_sampling_state** state, halogen_error* error) {
  return halogen::guarded(error, [&] {
    halogen_status status = check(*parameters, error);
    if (status == HALOGEN_OK) status = check_tokens(*parameters, sampler->vocabulary_size, error);
    if (status == HALOGEN_OK)
      status = check_prompt(prompt, n_prompt, sampler->vocabulary_size, error);
    if (status != HALOGEN_OK) return status;

    auto made = std::make_unique<halogen_sampling_state>();
    made->parameters = copy(*parameters);
    const Parameters& wanted = made->parameters;
    const std::span before(prompt, n_prompt);
    if (wanted.has(HALOGEN_STAGE_PENALTIES))
      made->history.emplace(before, max_tokens, wanted.penalty_window, sampler->vocabulary_size);
    if (wanted.has(HALOGEN_STAGE_DRY))
      made->repetitions.emplace(wanted, dry_breakers(*parameters), before, max_tokens,
                                sampler->vocabulary_size);
    if (wanted.mirostat && wanted.temperature > 0)
      made->mirostat.emplace(wanted.mirostat_tau, wanted.mirostat_eta);
    *state = made.release();
    return halogen_status{HALOGEN_OK};
  });
}

void state_destroy(halogen_sampling_state* state) {
  delete state;
}

halogen_status check_batch(const halogen_sampler& sampler, const halogen_sample_batch& batch,
                           halogen_error* error) {
  if (!HALOGEN_HAS(&batch, top_logprobs))
    return halogen_fail(error, HALOGEN_E_INVALID, "the batch has an older layout than is read");
  if (batch.vocabulary_size != sampler.vocabulary_size ||
      batch.logits_stride < batch.vocabulary_size) {
    return halogen::failed(error, HALOGEN_E_INVALID,
                           "the rows have " + std::to_string(batch.vocabulary_size) +
                               " logits at a stride of " + std::to_string(batch.logits_stride) +
                               "; this sampler was made for " +
                               std::to_string(sampler.vocabulary_size));
  }
  for (uint32_t row = 0; batch.n_top_logprobs != nullptr && row < batch.n_rows; row++) {
    if (std::cmp_less_equal(batch.n_top_logprobs[row], batch.top_logprobs_stride) ||
        batch.n_top_logprobs[row] <= 0)
      continue;
    return halogen::failed(
        error, HALOGEN_E_INVALID,
        "row " + std::to_string(row) + " wants " + std::to_string(batch.n_top_logprobs[row]) +
            " top logprobs; the batch has room for " + std::to_string(batch.top_logprobs_stride));
  }
  return HALOGEN_OK;
}

halogen_status sample(halogen_sampler* sampler, const halogen_sample_batch* batch,
                      halogen_error* error) {
  return halogen::guarded(error, [&] {
    const halogen_status status = check_batch(*sampler, *batch, error);
    if (status != HALOGEN_OK) return status;
    sampler->team->sample(*batch);
    return halogen_status{HALOGEN_OK};
  });
}

void accept(halogen_sampling_state* state, const int32_t* tokens, uint32_t count) {
  state->draws += count;
  for (uint32_t i = 0; i < count && state->mirostat; i++) state->mirostat->accept(tokens[i]);
  if (!state->history && !state->repetitions) return;
  // Beyond max_tokens the histories have to grow; without memory for that the penalties lag behind.
  halogen::guarded(nullptr, [&] {
    for (uint32_t i = 0; i < count; i++) {
      if (state->history) state->history->accept(tokens[i]);
      if (state->repetitions) state->repetitions->accept(tokens[i]);
    }
    return halogen_status{HALOGEN_OK};
  });
}

}  // namespace

void use_host(const halogen_host* host) {
  threads_of = host;
}

constexpr halogen_sampler_factory factory = {
    sizeof(halogen_sampler_factory),
    "sampler",
    std::size(kConfigKeys),
    kConfigKeys,
    create,
    destroy,
    check_parameters,
    state_create,
    state_destroy,
    sample,
    accept,
};

}  // namespace sampler
