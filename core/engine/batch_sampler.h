// Calls the sampler for all rows of a step at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halogen/sampler.h"

#include "core/base/result.h"
#include "core/engine/engine.h"
#include "core/engine/request.h"
#include "core/engine/step_builder.h"

namespace halogen {

class BatchSampler {
 public:
  BatchSampler(const EngineParts& parts, const EngineLimits& limits);

  // [device] Chooses a token for each part that has a row. Allocates only on failure.
  Status sample(StepBuilder& step);

  // Of the last call, by row. A token outside the vocabulary means that the row allowed none.
  int32_t token(size_t row) const { return tokens_[row]; }
  // Valid where the row's sequence asked for logprobs.
  float logprob(size_t row) const { return logprobs_[row]; }
  // Appends the `count` best tokens of the row.
  void append_top(size_t row, int32_t count, std::vector<TokenLogprob>& best) const;

 private:
  const EngineParts& parts_;
  const uint32_t vocabulary_size_;
  const uint32_t top_stride_;
  std::vector<halogen_sampling_state*> states_;
  std::vector<const uint32_t*> masks_;
  std::vector<int32_t> n_top_, tokens_, top_tokens_;
  std::vector<float> logprobs_, top_logprobs_;
};

}  // namespace halogen
