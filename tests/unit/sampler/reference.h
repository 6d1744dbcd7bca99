// Sampling by its formulae, in float64 and with full sorts: what the sampler is compared with.
// Written from the papers and docs/sampling.md, not from the sampler.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

namespace sampling::reference {

// The tokens that are still there, with their logits. Better first: larger logits, then lower ids.
class Row {
 public:
  explicit Row(const std::vector<float>& logits) {
    for (size_t i = 0; i < logits.size(); i++) {
      const double logit = std::min(double{logits[i]}, 3.4028234663852886e38);
      if (!std::isnan(logits[i]) && logit > -HUGE_VAL)
        held_.push_back({static_cast<int32_t>(i), logit});
    }
    std::sort(held_.begin(), held_.end());
  }

  std::map<int32_t, double> probabilities() const {
    std::map<int32_t, double> result;
    const std::vector<double> p = softmax();
    for (size_t i = 0; i < held_.size(); i++) result[held_[i].token] = p[i];
    return result;
  }

  void subtract(int32_t token, double penalty) {
    for (Held& held : held_)
      if (held.token == token) held.logit -= penalty;
    std::sort(held_.begin(), held_.end());
  }

  void temperature(double t) {
    for (Held& held : held_) held.logit /= t;
  }

  // t - range to t + range, by the entropy's share of its maximum, the logarithm of the count.
  void dynamic_temperature(double t, double range, double exponent) {
    if (held_.size() < 2) return;
    const double share = entropy() / std::log(static_cast<double>(held_.size()));
    const double least = std::max(0.0, t - range);
    temperature(least + (t + range - least) * std::pow(share, exponent));
  }

  void top_k(size_t k) { held_.resize(std::min(k, held_.size())); }

  // Tang et al. 2024, "Top-n-sigma: not all logits are you need": logits from M - n sigma.
  void top_n_sigma(double n) {
    double mean = 0, variance = 0;
    for (const Held& held : held_) mean += held.logit / static_cast<double>(held_.size());
    for (const Held& held : held_)
      variance += (held.logit - mean) * (held.logit - mean) / static_cast<double>(held_.size());
    const double bound = held_[0].logit - n * std::sqrt(variance);
    std::erase_if(held_, [&](const Held& held) { return held.logit < bound; });
  }

  // Holtzman et al. 2020, "The curious case of neural text degeneration".
  void top_p(double p) { keep_until(p, softmax()); }

  // Minh et al. 2024, "Turning up the heat: min-p sampling".
  void min_p(double share) {
    const double bound = held_[0].logit + std::log(share);
    std::erase_if(held_, [&](const Held& held) { return held.logit < bound; });
  }

  // Meister et al. 2022, "Locally typical sampling".
  void typical_p(double tau) {
    const double expected = entropy();
    const std::vector<double> p = softmax();
    std::vector<size_t> order(held_.size());
    for (size_t i = 0; i < order.size(); i++) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::abs(-std::log(p[a]) - expected) < std::abs(-std::log(p[b]) - expected);
    });
    std::vector<Held> sorted;
    std::vector<double> weights;
    for (const size_t i : order) {
      sorted.push_back(held_[i]);
      weights.push_back(p[i]);
    }
    held_ = sorted;
    keep_until(tau, weights);
    std::sort(held_.begin(), held_.end());
  }

  // Weidmann 2024, "Exclude Top Choices": all but the least of those from the threshold on.
  void xtc(double threshold) {
    const std::vector<double> p = softmax();
    size_t above = 0;
    while (above < p.size() && p[above] >= threshold) above++;
    if (above >= 2) held_.erase(held_.begin(), held_.begin() + static_cast<ptrdiff_t>(above) - 1);
  }

  // Basu et al. 2021, version 2 of their implementation: surprises of at most `bits`.
  void mirostat(double bits) {
    const std::vector<double> p = softmax();
    size_t kept = 0;
    while (kept < p.size() && -std::log2(p[kept]) <= bits) kept++;
    top_k(std::max<size_t>(kept, 1));
  }

 private:
  struct Held {
    int32_t token;
    double logit;
    bool operator<(const Held& other) const {
      return logit != other.logit ? logit > other.logit : token < other.token;
    }
  };

  std::vector<double> softmax() const {
    std::vector<double> p;
    double sum = 0;
    for (const Held& held : held_) sum += std::exp(held.logit - held_[0].logit);
    for (const Held& held : held_) p.push_back(std::exp(held.logit - held_[0].logit) / sum);
    return p;
  }

  double entropy() const {
    double sum = 0;
    for (const double p : softmax())
      if (p > 0) sum -= p * std::log(p);
    return sum;
  }

  void keep_until(double goal, const std::vector<double>& weights) {
    double sum = 0;
    size_t kept = 0;
    while (kept < held_.size() && (kept == 0 || sum < goal)) sum += weights[kept++];
    held_.resize(kept);
  }

  std::vector<Held> held_;
};

// DRY by looking at every place: for each token, the longest match of the end of `context` that it
// followed (Weidmann 2024), if that has at least `allowed_length` tokens.
inline std::map<int32_t, uint32_t> dry_matches(const std::vector<int32_t>& context,
                                               uint32_t allowed_length, int32_t last_n,
                                               const std::vector<std::vector<int32_t>>& breakers) {
  std::vector<int32_t> window = context;
  if (last_n >= 0 && window.size() > static_cast<size_t>(last_n))
    window.erase(window.begin(), window.end() - last_n);
  const auto breaks = [&](size_t end) {  // a breaker ends with the token before `end`
    for (const auto& breaker : breakers)
      if (breaker.size() <= end &&
          std::equal(breaker.begin(), breaker.end(),
                     window.begin() + static_cast<ptrdiff_t>(end - breaker.size())))
        return true;
    return false;
  };
  size_t reach = 0;  // tokens since the last breaker
  while (reach < window.size() && !breaks(window.size() - reach)) reach++;
  std::map<int32_t, uint32_t> found;
  for (size_t next = 1; next < window.size(); next++) {
    uint32_t length = 0;
    while (length < reach && length < next &&
           window[next - 1 - length] == window[window.size() - 1 - length])
      length++;
    const bool single = std::find(breakers.begin(), breakers.end(),
                                  std::vector<int32_t>{window[next]}) != breakers.end();
    if (length == 0 || length < allowed_length || single) continue;
    found[window[next]] = std::max(found[window[next]], length);
  }
  return found;
}

}  // namespace sampling::reference
