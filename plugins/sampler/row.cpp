#include "row.h"

#include <limits>

#include "logprobs.h"
#include "philox.h"

namespace sampler {

namespace {

void apply_biases(std::span<const halogen_logit_bias> biases, std::span<float> logits) {
  for (const halogen_logit_bias& bias : biases) {
    float& logit = logits[static_cast<size_t>(bias.token)];
    logit = bias.bias <= kBan ? -std::numeric_limits<float>::infinity() : logit + bias.bias;
  }
}

}  // namespace

RowSampler::RowSampler(uint32_t vocabulary_size)
    : candidates_(vocabulary_size), unchanged_(vocabulary_size) {
  heap_.reserve(vocabulary_size);
}

void RowSampler::sample(const halogen_sample_batch& batch, uint32_t row) {
  const std::span<float> logits(batch.logits + row * batch.logits_stride, batch.vocabulary_size);
  const int32_t top = batch.n_top_logprobs != nullptr ? batch.n_top_logprobs[row] : -1;
  const uint32_t* mask = batch.masks != nullptr ? batch.masks[row] : nullptr;
  if (top >= 0) std::copy(logits.begin(), logits.end(), unchanged_.begin());

  const int32_t token = choose(*batch.states[row], logits, mask);
  batch.tokens[row] = token;

  if (top < 0) return;
  const LogSoftmax log_softmax(unchanged_);
  batch.logprobs[row] = token >= 0 ? log_softmax.of(unchanged_[static_cast<size_t>(token)])
                                   : -std::numeric_limits<float>::infinity();
  const size_t first = size_t{row} * batch.top_logprobs_stride;
  top_logprobs(unchanged_, log_softmax, static_cast<uint32_t>(top), heap_, batch.top_tokens + first,
               batch.top_logprobs + first);
}

int32_t RowSampler::choose(const halogen_sampling_state& state, std::span<float> logits,
                           const uint32_t* mask) {
  const Parameters& parameters = state.parameters;
  if (state.history) apply_penalties(parameters, state.history->entries(), logits.data());
  apply_biases(parameters.biases, logits);
  candidates_.collect(logits, mask);
  if (candidates_.empty()) return -1;
  if (parameters.temperature == 0) return candidates_.best();

  if (parameters.top_k > 0) candidates_.keep_top(parameters.top_k);
  candidates_.weigh(parameters.temperature);
  if (parameters.top_p < 1) candidates_.keep_nucleus(parameters.top_p);
  if (parameters.min_p > 0) candidates_.drop_unlikely(parameters.min_p);
  return candidates_.draw(uniform(parameters.seed, state.draws));
}

}  // namespace sampler
