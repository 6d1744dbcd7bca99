// Log-probabilities of the model itself: from the logits before any penalty, bias or temperature.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ranked.h"
#include "row_math.h"

namespace sampler {

// The logarithm of the softmax of a row. What is subtracted is kept in two parts, since their sum
// would round away the smaller one when logits are large.
class LogSoftmax {
 public:
  // Makes the logits usable, as RowMath::clean does.
  LogSoftmax(std::span<float> logits, const RowMath& math);
  // Of one of these logits.
  float of(float logit) const;

 private:
  double largest_;
  double log_sum_;  // log(sum(exp(logit - largest)))
};

// Writes the `count` best tokens and their log-probabilities, best first; beyond the vocabulary the
// rest is token -1 at -infinity. `storage` has capacity for `count`.
void top_logprobs(std::span<const float> logits, const LogSoftmax& log_softmax, uint32_t count,
                  const RowMath& math, std::vector<Ranked>& storage, int32_t* tokens,
                  float* logprobs);

}  // namespace sampler
