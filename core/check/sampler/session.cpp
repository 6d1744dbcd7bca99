#include "core/check/sampler/session.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "core/check/guarded_memory.h"

namespace halogen::check {
namespace {

void expect_ok(const char* call, halogen_status status, const halogen_error& error) {
  if (status == HALOGEN_OK) return;
  throw Refused(status, std::string(call) + " answers " + halogen_status_name(status) + ": " +
                            (error.message[0] ? error.message : "no message"));
}

}  // namespace

halogen_sampling_parameters greedy_parameters() {
  halogen_sampling_parameters parameters = plain_parameters();
  parameters.temperature = 0;
  return parameters;
}

Result<SamplerSession> SamplerSession::open(Subject& subject, uint32_t vocabulary_size) {
  const auto* factory = subject.factory<halogen_sampler_factory>(HALOGEN_SAMPLER_KIND);
  if (!factory) return fail(HALOGEN_E_NOT_FOUND, subject.error());
  auto settings = subject.settings("sampler", {factory->config_keys, factory->n_config_keys});
  if (!settings) return settings.error();
  halogen_sampler* sampler = nullptr;
  halogen_error error{sizeof(halogen_error), HALOGEN_OK, ""};
  const halogen_status status =
      factory->create(settings->config(), vocabulary_size, &sampler, &error);
  if (status != HALOGEN_OK || !sampler)
    return within("create for a vocabulary of " + std::to_string(vocabulary_size),
                  from_plugin(status, error));
  return SamplerSession(*factory, sampler, vocabulary_size);
}

SamplerSession::~SamplerSession() {
  if (sampler_) factory_->destroy(sampler_);
}

SamplerSession::SamplerSession(SamplerSession&& other) noexcept
    : factory_(other.factory_),
      sampler_(std::exchange(other.sampler_, nullptr)),
      vocabulary_size_(other.vocabulary_size_) {}

SamplerState SamplerSession::state(const halogen_sampling_parameters& parameters,
                                   const std::vector<int32_t>& prompt, uint32_t max_tokens) const {
  halogen_sampling_state* state = nullptr;
  halogen_error error{sizeof(halogen_error), HALOGEN_OK, ""};
  expect_ok(
      "state_create",
      factory_->state_create(sampler_, &parameters, prompt.data(),
                             static_cast<uint32_t>(prompt.size()), max_tokens, &state, &error),
      error);
  return {*factory_, state};
}

std::vector<Chosen> SamplerSession::sample(const std::vector<SampleRow>& rows) const {
  const size_t n = rows.size(), size = vocabulary_size_, stride = size + 3;
  // The last row ends where memory does, and between rows is what would win.
  GuardedMemory memory(((n - 1) * stride + size) * sizeof(float));
  auto* logits = reinterpret_cast<float*>(memory.data());
  std::vector<GuardedMemory> mask_memory;
  std::vector<const uint32_t*> masks(n);
  std::vector<halogen_sampling_state*> states(n);
  std::vector<int32_t> wanted(n), tokens(n, -2);
  std::vector<float> logprobs(n, std::nanf(""));
  size_t top = 0;
  for (size_t i = 0; i < n; i++) {
    std::copy(rows[i].logits.begin(), rows[i].logits.end(), logits + i * stride);
    if (i + 1 < n)
      std::fill_n(logits + i * stride + size, stride - size, std::numeric_limits<float>::max());
    states[i] = rows[i].state.get();
    wanted[i] = rows[i].top;
    top = std::max(top, static_cast<size_t>(std::max(rows[i].top, 0)));
    if (!rows[i].mask) continue;
    const auto* bytes = reinterpret_cast<const uint8_t*>(rows[i].mask->data());
    mask_memory.emplace_back(std::span(bytes, rows[i].mask->size() * sizeof(uint32_t)));
    masks[i] = reinterpret_cast<const uint32_t*>(mask_memory.back().data());
  }
  std::vector<int32_t> top_tokens(n * top, -2);
  std::vector<float> top_logprobs(n * top, std::nanf(""));
  halogen_sample_batch batch{};
  batch.struct_size = sizeof batch;
  batch.n_rows = static_cast<uint32_t>(n);
  batch.vocabulary_size = vocabulary_size_;
  batch.logits_stride = stride;
  batch.logits = logits;
  batch.states = states.data();
  batch.masks = mask_memory.empty() ? nullptr : masks.data();
  batch.n_top_logprobs = wanted.data();
  batch.top_logprobs_stride = static_cast<uint32_t>(top);
  batch.tokens = tokens.data();
  batch.logprobs = logprobs.data();
  batch.top_tokens = top_tokens.data();
  batch.top_logprobs = top_logprobs.data();
  halogen_error error{sizeof(halogen_error), HALOGEN_OK, ""};
  expect_ok("sample", factory_->sample(sampler_, &batch, &error), error);

  std::vector<Chosen> chosen(n);
  for (size_t i = 0; i < n; i++) {
    const size_t from = i * top, to = from + static_cast<size_t>(std::max(rows[i].top, 0));
    chosen[i].token = tokens[i];
    chosen[i].logprob = logprobs[i];
    for (size_t j = from; j < to; j++) {
      chosen[i].top_tokens.push_back(top_tokens[j]);
      chosen[i].top_logprobs.push_back(top_logprobs[j]);
    }
  }
  return chosen;
}

}  // namespace halogen::check
