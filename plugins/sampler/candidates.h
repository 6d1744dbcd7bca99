// The tokens that one row may still choose, narrowed down stage by stage.
//
// At first these are all tokens of the row; a stage that drops some moves the others together, in
// place and in order of their ids. So a stage costs a pass or two over the vocabulary at most, and
// what comes after the first that drops most of it costs next to nothing. Nothing here sorts a
// vocabulary: where the best are wanted, they are selected, and what a selection finds does not
// depend on how it went about it.
//
// A stage's formula, in exact arithmetic, is in docs/sampling.md; weights are in float, sums of
// them in double.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "ranked.h"
#include "row_math.h"

namespace sampler {

class Candidates {
 public:
  struct Drawn {
    int32_t token;
    double share;  // its probability among the candidates
  };

  // Reserves everything for rows of `vocabulary_size`.
  Candidates(uint32_t vocabulary_size, const RowMath& math);

  // Starts over with the tokens that have a usable logit and are allowed; `mask` is a bit set over
  // the vocabulary or null. The row's memory is used until the next start.
  void start(std::span<float> logits, const uint32_t* mask);
  // Whether no token is possible. What follows may only be called where one is.
  bool empty();

  // Changes of logits: begin, then write through logit_of(), which is null for a token that is no
  // candidate. Minus infinity takes a token out.
  void begin_changes();
  float* logit_of(int32_t token);

  // Keeps the k best.
  void keep_top(uint32_t k);
  // Drops what is more than n standard deviations of the logits below the largest.
  void keep_deviations(double n);
  // Divides the logits by the temperature, above 0.
  void heat(double temperature);
  // The same, with a temperature between the two that grows with the entropy: least + (most -
  // least) * (H / H_max)^exponent.
  void heat_by_entropy(double least, double most, double exponent);
  // Keeps the fewest, nearest to the expected surprise first, whose probability reaches p.
  void keep_typical(double p);
  // Keeps the fewest, best first, whose probability reaches p; at least one.
  void keep_nucleus(double p);
  // Drops what is less probable than min_p times the best.
  void drop_unlikely(double min_p);
  // Of those with at least the probability `threshold`, drops all but the least.
  void exclude_top_choices(double threshold);
  // Keeps what has at most `bits` of surprise, -log2 of its probability; at least the best.
  void keep_unsurprising(double bits);

  // Calls visit(token, probability) for every candidate, in order of the ids.
  template <typename Visit>
  void each(Visit visit) {
    weigh();
    for (size_t i = 0; i < count_; i++)
      if (logits_[i] >= kLeastLogit) visit(token_at(i), weights_[i] / total_weight_);
  }
  // The largest logit, lowest id first on a tie.
  int32_t best();
  // The candidate at the share u, in [0, 1), of the probability, in order of the ids.
  Drawn draw(double u);

 private:
  struct Choice {  // a candidate in a selection
    double distance;
    float weight;
    Ranked ranked;
    // The order of the selection: nearest first, then best.
    friend bool operator<(const Choice& a, const Choice& b) {
      return a.distance != b.distance ? a.distance < b.distance : before(a.ranked, b.ranked);
    }
  };

  static constexpr float kLeastLogit = std::numeric_limits<float>::lowest();

  void settle();
  void weigh();
  double entropy() const;
  int32_t token_at(size_t place) const {
    return dropped_any_ ? tokens_[place] : static_cast<int32_t>(place);
  }
  std::span<const int32_t> places_from(const float* values, double bound);
  void keep_from(double least_logit);
  void keep_places(std::span<const int32_t> places);
  template <typename Distance>
  void keep_nearest(std::span<const int32_t> places, Distance distance, double goal);
  const Choice& last_within(double goal);

  const RowMath& math_;
  float* logits_ = nullptr;  // [count_], the row's own memory
  size_t count_ = 0;
  bool dropped_any_ = false;  // else a candidate's place is its token
  std::vector<int32_t> tokens_;

  // Known of the present logits, or not.
  bool settled_ = false;  // they are usable, and largest_ is the largest
  bool weighed_ = false;  // weights_ and sums are those of the present temperature
  float largest_ = 0;
  double temperature_ = 1;      // by which they have still to be divided
  std::vector<float> weights_;  // exp((logit - largest) / temperature)
  std::vector<double> block_sums_;
  double total_weight_ = 0;

  // Scratch.
  std::vector<int32_t> places_;
  std::vector<Ranked> ranked_;
  std::vector<Choice> choices_;
  std::vector<double> bucket_weights_;
};

}  // namespace sampler
