// How one row of logits becomes a token.
//
// The stages, in order: penalties, biases, mask; then, unless the temperature is 0 and the best
// token is taken: top-k, temperature, top-p, min-p, and the draw. Temperature does not change which
// tokens are the k best, so applying it after top-k saves work and is the same as before it; top-p
// and min-p see the probabilities at the given temperature among the k best.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "halogen/sampler.h"

#include "candidates.h"
#include "parameters.h"
#include "penalties.h"

// One sequence: what was asked for, what it has seen, how often it has drawn.
struct halogen_sampling_state {
  sampler::Parameters parameters;
  std::optional<sampler::TokenHistory> history;  // where penalties need it
  uint64_t draws = 0;
};

namespace sampler {

// Samples rows one after the other; rows share nothing else, so several samplers may work on the
// rows of one batch at once. Allocates only when it is made.
class RowSampler {
 public:
  explicit RowSampler(uint32_t vocabulary_size);

  // Fills row `row` of what `batch` puts out. The token is -1 where no token is possible: all are
  // banned, or no logit is a number above minus infinity. The other rows are not affected.
  void sample(const halogen_sample_batch& batch, uint32_t row);

 private:
  int32_t choose(const halogen_sampling_state& state, std::span<float> logits,
                 const uint32_t* mask);

  Candidates candidates_;
  std::vector<float> unchanged_;  // the row before penalties and biases, where logprobs are wanted
  std::vector<Ranked> heap_;      // scratch of the top logprobs
};

}  // namespace sampler
