#include "core/check/sampler/expected.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace halogen::check {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr float kBan = -100.0F;

// The value below which chi-squared stays but for a share of 3e-7, five deviations (Wilson and
// Hilferty 1931).
double chi_squared_limit(double freedom) {
  const double a = 2 / (9 * freedom);
  return freedom * std::pow(1 - a + 5 * std::sqrt(a), 3);
}

}  // namespace

std::vector<double> adjusted_logits(const std::vector<float>& logits,
                                    const halogen_sampling_parameters& p, const History& history,
                                    const std::vector<uint32_t>* mask) {
  std::vector<double> adjusted(logits.begin(), logits.end());
  std::vector<int32_t> all = history.prompt;
  all.insert(all.end(), history.generated.begin(), history.generated.end());
  const size_t window = p.penalty_window < 0
                            ? all.size()
                            : std::min<size_t>(static_cast<size_t>(p.penalty_window), all.size());
  std::vector<size_t> seen(logits.size()), generated(logits.size());
  for (size_t i = all.size() - window; i < all.size(); i++) {
    seen[static_cast<size_t>(all[i])]++;
    if (i >= history.prompt.size()) generated[static_cast<size_t>(all[i])]++;
  }
  for (size_t token = 0; token < adjusted.size(); token++) {
    double& logit = adjusted[token];
    if (seen[token] > 0)
      logit = logit > 0 ? logit / p.repetition_penalty : logit * p.repetition_penalty;
    if (generated[token] > 0)
      logit -= p.presence_penalty + p.frequency_penalty * static_cast<double>(generated[token]);
  }
  for (uint32_t i = 0; i < p.n_biases; i++) {
    double& logit = adjusted[static_cast<size_t>(p.biases[i].token)];
    logit = p.biases[i].bias <= kBan ? -kInfinity : logit + p.biases[i].bias;
  }
  for (size_t token = 0; mask && token < adjusted.size(); token++)
    if (((*mask)[token / 32] >> (token % 32) & 1) == 0) adjusted[token] = -kInfinity;
  return adjusted;
}

std::vector<double> probabilities(const std::vector<double>& logits,
                                  const halogen_sampling_parameters& p) {
  std::vector<size_t> order(logits.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  });
  std::vector<double> weights(logits.size());
  double total = 0;
  for (const size_t token : order)
    total += weights[token] = std::exp((logits[token] - logits[order[0]]) / p.temperature);

  size_t kept = order.size();
  if (p.top_k > 0) kept = std::min(kept, static_cast<size_t>(p.top_k));
  double sum = 0;
  for (size_t i = 0; p.top_p < 1 && i < kept; i++) {
    sum += weights[order[i]];
    if (sum >= p.top_p * total) kept = i + 1;
  }
  for (size_t i = 0; i < kept; i++)
    if (weights[order[i]] < static_cast<double>(p.min_p)) kept = i;  // the best weighs 1

  std::vector<double> result(logits.size());
  double left = 0;
  for (size_t i = 0; i < kept; i++) left += weights[order[i]];
  for (size_t i = 0; i < kept; i++) result[order[i]] = weights[order[i]] / left;
  return result;
}

std::vector<double> log_probabilities(const std::vector<float>& logits) {
  const double most = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - most);
  std::vector<double> result;
  for (const float logit : logits) result.push_back(logit - most - std::log(sum));
  return result;
}

double chi_squared_share(const std::vector<size_t>& counts,
                         const std::vector<double>& probabilities) {
  const auto draws = static_cast<double>(std::accumulate(counts.begin(), counts.end(), size_t{0}));
  double statistic = 0, rare_expected = 0, rare_count = 0, cells = 0;
  const auto add = [&](double count, double expected) {
    statistic += (count - expected) * (count - expected) / expected;
    cells++;
  };
  for (size_t i = 0; i < counts.size(); i++) {
    const double expected = draws * probabilities[i];
    const auto count = static_cast<double>(counts[i]);
    if (probabilities[i] == 0) {
      if (counts[i] > 0) return kInfinity;
    } else if (expected < 5) {
      rare_expected += expected;
      rare_count += count;
    } else {
      add(count, expected);
    }
  }
  if (rare_expected >= 1) add(rare_count, rare_expected);
  // One cell that holds everything is met exactly.
  return cells < 2 ? 0 : statistic / chi_squared_limit(cells - 1);
}

}  // namespace halogen::check
