// How one row of logits becomes a token.
//
// Biases and the mask come first: what they ban, nothing brings back. Then the sequence's chain of
// stages, by default penalties, DRY, top-n-sigma, top-k, temperature, typical-p, top-p, min-p, XTC;
// then mirostat, which replaces those that drop tokens; then the draw. Stages that would change
// nothing are not in the chain. At a temperature of 0 the best token is taken after penalties and
// DRY.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "halogen/sampler.h"

#include "candidates.h"
#include "mirostat.h"
#include "parameters.h"
#include "penalties.h"
#include "repetitions.h"

// One sequence: what was asked for, what it has seen, how often it has drawn.
struct halogen_sampling_state {
  sampler::Parameters parameters;
  std::optional<sampler::TokenHistory> history;     // where penalties need it
  std::optional<sampler::Repetitions> repetitions;  // where DRY does
  std::optional<sampler::Mirostat> mirostat;
  uint64_t draws = 0;
};

namespace sampler {

// Samples rows one after the other; rows share nothing else, so several samplers may work on the
// rows of one batch at once. Allocates only when it is made.
class RowSampler {
 public:
  explicit RowSampler(uint32_t vocabulary_size, const RowMath& math = row_math());

  // Fills row `row` of what `batch` puts out. The token is -1 where no token is possible: all are
  // banned, or no logit is a number above minus infinity. The other rows are not affected.
  void sample(const halogen_sample_batch& batch, uint32_t row);

 private:
  int32_t choose(halogen_sampling_state& state, std::span<float> logits, const uint32_t* mask);
  void run(halogen_sampling_stage stage, const halogen_sampling_state& state);
  void heat(const Parameters& parameters);

  const RowMath& math_;
  Candidates candidates_;
  std::vector<float> unchanged_;  // the row before penalties and biases, where logprobs are wanted
  std::vector<Ranked> heap_;      // scratch of the top logprobs
};

}  // namespace sampler
