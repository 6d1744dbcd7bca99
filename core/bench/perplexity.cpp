#include "core/bench/perplexity.h"

#include <algorithm>
#include <cmath>

namespace halogen::bench {
namespace {

// Sums of the losses and of their squares.
struct Losses {
  double sum = 0, squares = 0;
  uint64_t count = 0;

  void add(double loss) {
    sum += loss;
    squares += loss * loss;
    count++;
  }
  Perplexity result(uint32_t windows) const {
    if (count == 0) return {};
    const auto n = static_cast<double>(count);
    const double mean = sum / n;
    const double deviation = std::sqrt(std::max(0.0, squares / n - mean * mean) / n);
    return {std::exp(mean), std::exp(mean) * deviation, windows, count};
  }
};

// One window: `logits_from` is the first token whose prediction of the next one counts. Steps are
// as large as the model's limits allow; only rows that count are asked for.
Status read_window(StepRunner& runner, const std::vector<int32_t>& window, size_t logits_from,
                   Losses& losses) {
  const EngineLimits& limits = runner.model().limits();
  runner.set_length(0, 0);
  size_t at = 0;
  while (at + 1 < window.size()) {
    const bool rows = at >= logits_from;
    const size_t most = rows ? std::min(limits.max_batch_tokens, limits.max_sequences)
                             : std::min<size_t>(limits.max_batch_tokens, logits_from - at);
    const size_t end = std::min(window.size() - 1, at + most);
    const std::vector<int32_t> tokens(window.begin() + static_cast<ptrdiff_t>(at),
                                      window.begin() + static_cast<ptrdiff_t>(end));
    if (Status done = runner.step({{0, tokens, rows}}, false); !done) return done;
    for (size_t i = at; rows && i < end; i++) {
      const float* logits = runner.logits().data() + (i - at) * limits.vocabulary_size;
      losses.add(-log_probability(logits, limits.vocabulary_size, window[i + 1]));
    }
    at = end;
  }
  return {};
}

}  // namespace

Result<Perplexity> measure_perplexity(StepRunner& runner, const std::vector<int32_t>& tokens,
                                      int32_t first_token, const PerplexityOptions& options,
                                      const std::function<void(uint32_t, uint32_t)>& done) {
  const auto windows = static_cast<uint32_t>(tokens.size() / options.window);
  if (windows == 0) {
    return fail(HALOGEN_E_INVALID, "the text has " + std::to_string(tokens.size()) +
                                       " tokens, fewer than one window of " +
                                       std::to_string(options.window));
  }
  Losses losses;
  for (uint32_t w = 0; w < windows; w++) {
    const auto first = tokens.begin() + static_cast<ptrdiff_t>(uint64_t{w} * options.window);
    std::vector<int32_t> window(first, first + options.window);
    if (first_token >= 0) window.front() = first_token;
    const size_t from = options.whole ? 0 : options.window / 2;
    if (Status read = read_window(runner, window, from, losses); !read) return read.error();
    if (done) done(w + 1, windows);
  }
  return losses.result(windows);
}

double log_probability(const float* logits, uint32_t count, int32_t token) {
  const auto largest = static_cast<double>(*std::max_element(logits, logits + count));
  double sum = 0;
  for (uint32_t i = 0; i < count; i++) sum += std::exp(static_cast<double>(logits[i]) - largest);
  return static_cast<double>(logits[token]) - largest - std::log(sum);
}

}  // namespace halogen::bench
