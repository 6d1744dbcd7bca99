#include "logprobs.h"

namespace sampler {

LogSoftmax::LogSoftmax(std::span<const float> logits) {
  float largest = -std::numeric_limits<float>::infinity();
  for (float logit : logits) largest = std::max(largest, usable(logit));
  double sum = 0;
  for (float logit : logits) sum += std::exp(static_cast<double>(usable(logit)) - largest);
  largest_ = largest;
  log_sum_ = std::log(sum);
}

float LogSoftmax::of(float logit) const {
  const float used = usable(logit);
  // Also where no logit of the row is usable and the parts are not numbers.
  if (std::isinf(used)) return used;
  return static_cast<float>((used - largest_) - log_sum_);
}

void top_logprobs(std::span<const float> logits, const LogSoftmax& log_softmax, uint32_t count,
                  std::vector<Ranked>& storage, int32_t* tokens, float* logprobs) {
  if (count == 0) return;
  BestOf best(storage, count);
  for (size_t i = 0; i < logits.size(); i++)
    best.offer({usable(logits[i]), static_cast<int32_t>(i)});
  uint32_t written = 0;
  for (const Ranked& ranked : best.sorted()) {
    tokens[written] = ranked.token;
    logprobs[written++] = log_softmax.of(ranked.logit);
  }
  for (; written < count; written++) {
    tokens[written] = -1;
    logprobs[written] = -std::numeric_limits<float>::infinity();
  }
}

}  // namespace sampler
