// What a sampler has to do, in float64 and the obvious way.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "halogen/sampler.h"

#include "core/check/reference/sampling.h"

namespace halogen::check {

struct History {
  std::vector<int32_t> prompt, generated;
};

// What a row's outcome depends on besides its logits and parameters.
struct Circumstances {
  History history{{0}, {}};
  std::vector<uint32_t> mask;            // empty: none
  std::optional<double> mirostat_limit;  // in bits; none: that of the first token
};

// The row that the largest logit is taken from at a temperature of 0: after biases, mask, penalties
// and DRY.
reference::TokenRow adjusted_row(const std::vector<float>& logits,
                                 const halogen_sampling_parameters& parameters,
                                 const Circumstances& circumstances);

// The probability of each token after the whole chain. Parameters that end where those of ABI 1.0
// do have the later stages off.
std::vector<double> probabilities(const std::vector<float>& logits,
                                  const halogen_sampling_parameters& parameters,
                                  const Circumstances& circumstances = {});

// log softmax of unchanged logits.
std::vector<double> log_probabilities(const std::vector<float>& logits);

// Pearson's statistic over the value that chance exceeds three times in ten million; cells that are
// expected less than five times are joined. Infinity where something impossible was drawn.
double chi_squared_share(const std::vector<size_t>& counts,
                         const std::vector<double>& probabilities);

}  // namespace halogen::check
