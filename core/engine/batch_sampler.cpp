#include "core/engine/batch_sampler.h"

#include "core/base/call_plugin.h"

namespace halogen {

BatchSampler::BatchSampler(const EngineParts& parts, const EngineLimits& limits)
    : parts_(parts),
      vocabulary_size_(limits.vocabulary_size),
      top_stride_(limits.max_top_logprobs),
      tokens_(limits.max_sequences),
      top_tokens_(size_t{limits.max_sequences} * limits.max_top_logprobs),
      logprobs_(limits.max_sequences),
      top_logprobs_(size_t{limits.max_sequences} * limits.max_top_logprobs) {
  states_.reserve(limits.max_sequences);
  masks_.reserve(limits.max_sequences);
  n_top_.reserve(limits.max_sequences);
}

Status BatchSampler::sample(StepBuilder& step) {
  states_.clear();
  masks_.clear();
  n_top_.clear();
  for (const StepPart& part : step.parts()) {
    if (!part.has_row) continue;
    const Sequence& sequence = *part.sequence;
    states_.push_back(sequence.sampling.get());
    masks_.push_back(sequence.generated() < sequence.min_tokens && !sequence.no_end.empty()
                         ? sequence.no_end.data()
                         : nullptr);
    n_top_.push_back(sequence.top_logprobs);
  }
  if (states_.empty()) return {};

  halogen_sample_batch batch{};
  batch.struct_size = sizeof batch;
  batch.n_rows = static_cast<uint32_t>(states_.size());
  batch.vocabulary_size = vocabulary_size_;
  batch.logits_stride = vocabulary_size_;
  batch.logits = step.logits();
  batch.states = states_.data();
  batch.masks = masks_.data();
  batch.n_top_logprobs = n_top_.data();
  batch.top_logprobs_stride = top_stride_;
  batch.tokens = tokens_.data();
  batch.logprobs = logprobs_.data();
  batch.top_tokens = top_tokens_.data();
  batch.top_logprobs = top_logprobs_.data();
  const Status status = call_plugin([&](halogen_error* error) {
    return parts_.sampler->sample(parts_.sampler_instance, &batch, error);
  });
  if (!status) return within("sampling", status.error());
  return {};
}

void BatchSampler::append_top(size_t row, int32_t count, std::vector<TokenLogprob>& best) const {
  const size_t first = row * top_stride_;
  for (size_t i = first; i < first + static_cast<size_t>(count); i++)
    best.push_back({top_tokens_[i], top_logprobs_[i]});
}

}  // namespace halogen
