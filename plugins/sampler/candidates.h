// The tokens that one row may still choose, narrowed down stage by stage.
//
// The list stays in order of token ids throughout. A stage that keeps the best finds where to cut
// by partial selection on a copy, never by sorting the vocabulary, and then drops what lies behind
// the cut; so the result does not depend on how the selection went about it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ranked.h"

namespace sampler {

class Candidates {
 public:
  // Reserves everything for rows of `vocabulary_size`.
  explicit Candidates(uint32_t vocabulary_size);

  // Starts over with every token that has a usable logit and is allowed; `mask` is a bit set over
  // the vocabulary or null.
  void collect(std::span<const float> logits, const uint32_t* mask);
  bool empty() const { return candidates_.empty(); }

  // The largest logit, lowest id first on a tie. There must be a candidate.
  int32_t best() const;

  // Keeps the k best.
  void keep_top(uint32_t k);
  // Gives every candidate the weight exp((logit - largest) / temperature); the stages below need
  // it.
  void weigh(double temperature);
  // Keeps the fewest best whose share of the weight reaches p, at least one.
  void keep_nucleus(double p);
  // Drops what weighs less than min_p times the best.
  void drop_unlikely(double min_p);
  // The candidate at the share u, in [0, 1), of the weight.
  int32_t draw(double u) const;

 private:
  struct Candidate {
    Ranked ranked;
    double weight;
  };
  static bool first(const Candidate& a, const Candidate& b) { return before(a.ranked, b.ranked); }

  void cut_behind(const Ranked& last);
  double total_weight() const;

  std::vector<Candidate> candidates_;
  std::vector<Candidate> selection_;  // scratch of keep_nucleus
  std::vector<Ranked> heap_;          // scratch of keep_top
};

}  // namespace sampler
