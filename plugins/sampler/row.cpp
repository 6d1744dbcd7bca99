#include "row.h"

#include <algorithm>
#include <limits>

#include "logprobs.h"
#include "philox.h"

namespace sampler {

namespace {

// The two random numbers that a token may need, each from a stream of its own.
constexpr uint32_t kDrawStream = 0;
constexpr uint32_t kXtcStream = 1;

void apply_biases(std::span<const halogen_logit_bias> biases, std::span<float> logits) {
  for (const halogen_logit_bias& bias : biases) {
    float& logit = logits[static_cast<size_t>(bias.token)];
    logit = bias.bias <= kBan ? -std::numeric_limits<float>::infinity() : logit + bias.bias;
  }
}

}  // namespace

RowSampler::RowSampler(uint32_t vocabulary_size, const RowMath& math)
    : math_(math), candidates_(vocabulary_size, math), unchanged_(vocabulary_size) {
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
  const LogSoftmax log_softmax(unchanged_, math_);
  batch.logprobs[row] = token >= 0 ? log_softmax.of(unchanged_[static_cast<size_t>(token)])
                                   : -std::numeric_limits<float>::infinity();
  const size_t first = size_t{row} * batch.top_logprobs_stride;
  top_logprobs(unchanged_, log_softmax, static_cast<uint32_t>(top), math_, heap_,
               batch.top_tokens + first, batch.top_logprobs + first);
}

int32_t RowSampler::choose(halogen_sampling_state& state, std::span<float> logits,
                           const uint32_t* mask) {
  const Parameters& parameters = state.parameters;
  apply_biases(parameters.biases, logits);
  candidates_.start(logits, mask);
  for (const halogen_sampling_stage stage : parameters.chain) {
    if (stage > HALOGEN_STAGE_DRY && candidates_.empty()) return -1;
    run(stage, state);
  }
  if (candidates_.empty()) return -1;
  if (parameters.temperature == 0) return candidates_.best();
  if (state.mirostat) candidates_.keep_unsurprising(state.mirostat->limit());
  const Candidates::Drawn drawn =
      candidates_.draw(uniform(parameters.seed, state.draws, kDrawStream));
  if (state.mirostat) state.mirostat->drawn(drawn.token, drawn.share);
  return drawn.token;
}

void RowSampler::run(halogen_sampling_stage stage, const halogen_sampling_state& state) {
  const Parameters& parameters = state.parameters;
  switch (stage) {
    case HALOGEN_STAGE_PENALTIES:
      return apply_penalties(parameters, state.history->entries(), candidates_);
    case HALOGEN_STAGE_DRY:
      return apply_dry(parameters, state.repetitions->continuations(), candidates_);
    case HALOGEN_STAGE_TOP_N_SIGMA:
      return candidates_.keep_deviations(parameters.top_n_sigma);
    case HALOGEN_STAGE_TOP_K:
      return candidates_.keep_top(parameters.top_k);
    case HALOGEN_STAGE_TEMPERATURE:
      return heat(parameters);
    case HALOGEN_STAGE_TYPICAL_P:
      return candidates_.keep_typical(parameters.typical_p);
    case HALOGEN_STAGE_TOP_P:
      return candidates_.keep_nucleus(parameters.top_p);
    case HALOGEN_STAGE_MIN_P:
      return candidates_.drop_unlikely(parameters.min_p);
    case HALOGEN_STAGE_XTC:
      if (uniform(parameters.seed, state.draws, kXtcStream) < parameters.xtc_probability)
        candidates_.exclude_top_choices(parameters.xtc_threshold);
      return;
  }
}

void RowSampler::heat(const Parameters& parameters) {
  if (parameters.dynatemp_range == 0) return candidates_.heat(parameters.temperature);
  candidates_.heat_by_entropy(std::max(parameters.temperature - parameters.dynatemp_range, 0.0),
                              parameters.temperature + parameters.dynatemp_range,
                              parameters.dynatemp_exponent);
}

}  // namespace sampler
