#include "logprobs.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sampler {

LogSoftmax::LogSoftmax(std::span<float> logits, const RowMath& math) {
  const float largest = math.clean(logits.data(), logits.size());
  float weights[1024];
  double sum = 0;
  for (size_t i = 0; i < logits.size(); i += std::size(weights)) {
    const size_t n = std::min(std::size(weights), logits.size() - i);
    sum += math.weigh(logits.data() + i, n, largest, 1, weights);
  }
  largest_ = largest;
  log_sum_ = std::log(sum);
}

float LogSoftmax::of(float logit) const {
  // Also where no logit of the row is usable and the parts are not numbers.
  if (std::isinf(logit)) return logit;
  return static_cast<float>((logit - largest_) - log_sum_);
}

void top_logprobs(std::span<const float> logits, const LogSoftmax& log_softmax, uint32_t count,
                  const RowMath& math, std::vector<Ranked>& storage, int32_t* tokens,
                  float* logprobs) {
  if (count == 0) return;
  uint32_t written = 0;
  for (const Ranked& ranked : best_of(logits, count, math, storage)) {
    tokens[written] = ranked.token;
    logprobs[written++] = log_softmax.of(ranked.logit);
  }
  for (; written < count; written++) {
    tokens[written] = -1;
    logprobs[written] = -std::numeric_limits<float>::infinity();
  }
}

}  // namespace sampler
