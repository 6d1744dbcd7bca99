// What a sampler has to do, in float64 and the obvious way: the whole vocabulary sorted.
#pragma once

#include <cstdint>
#include <vector>

#include "halogen/sampler.h"

namespace halogen::check {

struct History {
  std::vector<int32_t> prompt, generated;
};

// The row after penalties, biases and mask; -infinity is what cannot be chosen.
std::vector<double> adjusted_logits(const std::vector<float>& logits,
                                    const halogen_sampling_parameters& parameters,
                                    const History& history, const std::vector<uint32_t>* mask);

// The probability of each token. Of top_k, top_p and min_p at most one is on: the header does not
// say in what order they come.
std::vector<double> probabilities(const std::vector<double>& logits,
                                  const halogen_sampling_parameters& parameters);

// log softmax of unchanged logits.
std::vector<double> log_probabilities(const std::vector<float>& logits);

// Pearson's statistic over the value that chance exceeds three times in ten million; cells that are
// expected less than five times are joined. Infinity where something impossible was drawn.
double chi_squared_share(const std::vector<size_t>& counts,
                         const std::vector<double>& probabilities);

}  // namespace halogen::check
