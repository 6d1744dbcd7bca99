// How well a model predicts a text: the quality that a weight type or a cache type costs, as a
// number.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/result.h"
#include "core/bench/step_runner.h"

namespace halogen::bench {

struct PerplexityOptions {
  uint32_t window = 512;  // tokens that are read together; the text is cut into such windows
  bool whole = false;     // count every token of a window, not only those of its second half
};

struct Perplexity {
  double value = 0;
  double error = 0;  // standard error of the value
  uint32_t windows = 0;
  uint64_t predictions = 0;
};

// [worker] Of the windows that `tokens` fill; what is left over at the end is not counted. The
// first token of each window is replaced by `first_token` where that is not below 0, as models
// expect that begin texts with one. `done` is told how many windows are through.
Result<Perplexity> measure_perplexity(StepRunner& runner, const std::vector<int32_t>& tokens,
                                      int32_t first_token, const PerplexityOptions& options,
                                      const std::function<void(uint32_t done, uint32_t all)>& done);

// Natural logarithm of what softmax gives `token`; `logits` has `count` of them.
double log_probability(const float* logits, uint32_t count, int32_t token);

}  // namespace halogen::bench
