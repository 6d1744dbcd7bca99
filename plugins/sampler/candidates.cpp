#include "candidates.h"

#include <numeric>

namespace sampler {

Candidates::Candidates(uint32_t vocabulary_size) {
  candidates_.reserve(vocabulary_size);
  selection_.reserve(vocabulary_size);
  heap_.reserve(vocabulary_size);
}

void Candidates::collect(std::span<const float> logits, const uint32_t* mask) {
  candidates_.clear();
  for (size_t i = 0; i < logits.size(); i++) {
    if (mask != nullptr && (mask[i / 32] >> (i % 32) & 1) == 0) continue;
    const float logit = usable(logits[i]);
    if (std::isinf(logit)) continue;
    candidates_.push_back({{logit, static_cast<int32_t>(i)}, 0.0});
  }
}

int32_t Candidates::best() const {
  return std::min_element(candidates_.begin(), candidates_.end(), first)->ranked.token;
}

void Candidates::keep_top(uint32_t k) {
  if (k >= candidates_.size()) return;
  BestOf best(heap_, k);
  for (const Candidate& candidate : candidates_) best.offer(candidate.ranked);
  cut_behind(best.worst());
}

void Candidates::weigh(double temperature) {
  float largest = -std::numeric_limits<float>::infinity();
  for (const Candidate& candidate : candidates_)
    largest = std::max(largest, candidate.ranked.logit);
  for (Candidate& candidate : candidates_) {
    const double difference = static_cast<double>(candidate.ranked.logit) - largest;
    candidate.weight = std::exp(difference / temperature);
  }
}

void Candidates::keep_nucleus(double p) {
  const double total = total_weight();
  const double goal = p * total;
  // All that weigh less than this together weigh less than half of what may be left out, so none
  // of them is in the nucleus. On a real distribution this leaves hundreds of a vocabulary.
  const double negligible = 0.5 * (1 - p) * total / static_cast<double>(candidates_.size());
  selection_.clear();
  for (const Candidate& candidate : candidates_)
    if (candidate.weight >= negligible) selection_.push_back(candidate);

  // The number of candidates in the nucleus is in (least, most], and those before `least` weigh
  // `sum`, less than the goal. Selecting around the middle halves the range.
  size_t least = 0, most = selection_.size();
  double sum = 0;
  while (most - least > 1) {
    const size_t middle = least + (most - least) / 2;
    const auto from = selection_.begin() + static_cast<ptrdiff_t>(least);
    const auto to = selection_.begin() + static_cast<ptrdiff_t>(middle);
    std::nth_element(from, to, selection_.begin() + static_cast<ptrdiff_t>(most), first);
    const double half = std::accumulate(
        from, to, 0.0, [](double s, const Candidate& candidate) { return s + candidate.weight; });
    if (sum + half >= goal) {
      most = middle;
    } else {
      sum += half;
      least = middle;
    }
  }
  // The range was narrowed by selections, so this element is the nucleus' last in the order.
  cut_behind(selection_[least].ranked);
}

void Candidates::drop_unlikely(double min_p) {
  // The best candidate weighs 1, since weights are relative to it and no stage drops it.
  std::erase_if(candidates_,
                [min_p](const Candidate& candidate) { return candidate.weight < min_p; });
}

int32_t Candidates::draw(double u) const {
  const double goal = u * total_weight();
  double sum = 0;
  const Candidate* drawn = &candidates_.front();
  for (const Candidate& candidate : candidates_) {
    if (candidate.weight == 0) continue;
    drawn = &candidate;  // the last one takes what rounding leaves over
    sum += candidate.weight;
    if (sum > goal) break;
  }
  return drawn->ranked.token;
}

void Candidates::cut_behind(const Ranked& last) {
  std::erase_if(candidates_,
                [&last](const Candidate& candidate) { return before(last, candidate.ranked); });
}

double Candidates::total_weight() const {
  double total = 0;
  for (const Candidate& candidate : candidates_) total += candidate.weight;
  return total;
}

}  // namespace sampler
