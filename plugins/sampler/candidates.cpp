#include "candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sampler {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLeastWeight = std::numeric_limits<float>::min();

constexpr size_t kBlock = 1024;    // candidates whose weights are summed before the others'
constexpr size_t kFew = 2048;      // from more than this, a selection first narrows by buckets
constexpr size_t kBuckets = 4096;  // of distances up to kFarthest
constexpr double kFarthest = 96;   // nats: weights beyond exp(-87) are 0
constexpr double kLeastTemperature = 1e-30;

float inverse(double temperature) {
  return static_cast<float>(1 / std::max(temperature, kLeastTemperature));
}

size_t bucket_of(double distance) {
  const double bucket = distance * (kBuckets / kFarthest);
  return bucket < kBuckets - 1 ? static_cast<size_t>(bucket) : kBuckets - 1;
}

}  // namespace

Candidates::Candidates(uint32_t vocabulary_size, const RowMath& math)
    : math_(math),
      tokens_(vocabulary_size),
      weights_(vocabulary_size),
      block_sums_((vocabulary_size + kBlock - 1) / kBlock),
      places_(vocabulary_size),
      bucket_weights_(kBuckets) {
  ranked_.reserve(vocabulary_size);
  choices_.reserve(vocabulary_size);
}

void Candidates::start(std::span<float> logits, const uint32_t* mask) {
  logits_ = logits.data();
  count_ = logits.size();
  dropped_any_ = settled_ = weighed_ = false;
  temperature_ = 1;
  if (mask == nullptr) return;
  for (size_t word = 0; 32 * word < count_; word++) {
    if (mask[word] == ~0U) continue;
    const size_t end = std::min(count_, 32 * word + 32);
    for (size_t i = 32 * word; i < end; i++)
      if ((mask[word] >> (i % 32) & 1) == 0) logits_[i] = -kInfinity;
  }
}

bool Candidates::empty() {
  settle();
  return largest_ == -kInfinity;
}

void Candidates::begin_changes() {
  if (temperature_ != 1) {
    settle();
    const double temperature = std::max(temperature_, kLeastTemperature);
    for (float& logit : std::span(logits_, count_)) {
      if (logit == -kInfinity) continue;
      logit = static_cast<float>(
          std::clamp(logit / temperature, double{kLeastLogit}, -double{kLeastLogit}));
    }
    temperature_ = 1;
  }
  settled_ = weighed_ = false;
}

float* Candidates::logit_of(int32_t token) {
  if (!dropped_any_) return logits_ + token;
  const auto end = tokens_.begin() + static_cast<ptrdiff_t>(count_);
  const auto found = std::lower_bound(tokens_.begin(), end, token);
  return found != end && *found == token ? logits_ + (found - tokens_.begin()) : nullptr;
}

void Candidates::settle() {
  if (settled_) return;
  largest_ = math_.clean(logits_, count_);
  settled_ = true;
  weighed_ = false;
}

void Candidates::weigh() {
  settle();
  if (weighed_) return;
  total_weight_ = 0;
  for (size_t first = 0; first < count_; first += kBlock) {
    const size_t n = std::min(kBlock, count_ - first);
    const double sum =
        math_.weigh(logits_ + first, n, largest_, inverse(temperature_), weights_.data() + first);
    block_sums_[first / kBlock] = sum;
    total_weight_ += sum;
  }
  weighed_ = true;
}

// -sum p ln p; the candidates are weighed. With p = w / W and ln w = (logit - largest) / T this is
// ln W - sum w (logit - largest) / (T W).
double Candidates::entropy() const {
  const double moment = math_.moment(logits_, weights_.data(), count_, largest_);
  return std::log(total_weight_) - moment * inverse(temperature_) / total_weight_;
}

void Candidates::keep_top(uint32_t k) {
  if (k >= count_) return;
  settle();
  // The places, which are in the order of the tokens, stand for them in the selection.
  if (k <= count_ / 8) {
    best_of({logits_, count_}, k, math_, ranked_);
  } else {
    ranked_.clear();
    for (size_t i = 0; i < count_; i++) ranked_.push_back({logits_[i], static_cast<int32_t>(i)});
    std::nth_element(ranked_.begin(), ranked_.begin() + k, ranked_.end(), before);
    ranked_.resize(k);
  }
  size_t kept = 0;
  for (const Ranked& ranked : ranked_)
    if (ranked.logit > -kInfinity) places_[kept++] = ranked.token;
  std::sort(places_.begin(), places_.begin() + static_cast<ptrdiff_t>(kept));
  keep_places({places_.data(), kept});
}

void Candidates::keep_deviations(double n) {
  settle();
  const RowMath::Spread around_largest = math_.spread(logits_, count_, largest_);
  const auto count = static_cast<double>(around_largest.count);
  const double mean = largest_ + around_largest.sum / count;
  const RowMath::Spread around_mean = math_.spread(logits_, count_, static_cast<float>(mean));
  const double off = around_mean.sum / count;  // what is left of rounding the mean
  const double variance = around_mean.squares / count - off * off;
  if (!std::isfinite(variance)) return;  // of logits so far apart, none is beyond it
  keep_from(largest_ - n * std::sqrt(std::max(variance, 0.0)));
}

void Candidates::heat(double temperature) {
  temperature_ *= temperature;
  weighed_ = false;
}

void Candidates::heat_by_entropy(double least, double most, double exponent) {
  weigh();
  const auto count = static_cast<double>(math_.spread(logits_, count_, largest_).count);
  if (count < 2) return;
  const double share = std::clamp(entropy() / std::log(count), 0.0, 1.0);
  heat(least + (most - least) * std::pow(share, exponent));
}

void Candidates::keep_typical(double p) {
  weigh();
  const double expected = entropy();
  const double log_total = std::log(total_weight_);
  const double scale = inverse(temperature_);
  const auto distance = [=, this](int32_t place) {
    const double log_weight = (double{logits_[place]} - largest_) * scale;
    return std::abs(log_total - log_weight - expected);
  };
  keep_nearest(places_from(weights_.data(), kLeastWeight), distance, p * total_weight_);
  settled_ = false;  // the best may be gone
}

void Candidates::keep_nucleus(double p) {
  weigh();
  // All that weigh less than this together weigh less than half of what may be left out, so none
  // of them is in the nucleus. On a real distribution this leaves hundreds of a vocabulary.
  const double negligible = 0.5 * (1 - p) * total_weight_ / static_cast<double>(count_);
  const double scale = inverse(temperature_);
  const auto distance = [=, this](int32_t place) {
    return (double{largest_} - logits_[place]) * scale;
  };
  keep_nearest(places_from(weights_.data(), negligible), distance, p * total_weight_);
}

void Candidates::drop_unlikely(double min_p) {
  settle();
  keep_from(largest_ + std::log(min_p) * std::max(temperature_, kLeastTemperature));
}

void Candidates::exclude_top_choices(double threshold) {
  weigh();
  const auto top = places_from(weights_.data(), threshold * total_weight_);
  if (top.size() < 2) return;
  const auto ranked = [this](int32_t place) { return Ranked{logits_[place], place}; };
  int32_t least = top[0];
  for (const int32_t place : top)
    if (before(ranked(least), ranked(place))) least = place;
  for (const int32_t place : top)
    if (place != least) logits_[place] = -kInfinity;
  settled_ = false;
}

void Candidates::keep_unsurprising(double bits) {
  weigh();
  const double bound = total_weight_ * std::exp2(-bits);
  if (bound > 1) return keep_top(1);  // the best weighs 1
  keep_places(places_from(weights_.data(), bound));
}

int32_t Candidates::best() {
  settle();
  return token_at(math_.find_from(logits_, 0, count_, largest_));
}

Candidates::Drawn Candidates::draw(double u) {
  weigh();
  const double goal = u * total_weight_;
  size_t block = 0;
  double sum = 0, passed = 0;  // up to this block, and with it
  for (size_t i = 0; i * kBlock < count_ && passed <= goal; i++) {
    if (block_sums_[i] == 0) continue;
    block = i;  // the last one takes what rounding leaves over
    sum = passed;
    passed += block_sums_[i];
  }
  const size_t end = std::min(count_, (block + 1) * kBlock);
  size_t drawn = 0;
  for (size_t i = block * kBlock; i < end; i++) {
    if (weights_[i] == 0) continue;
    drawn = i;
    sum += weights_[i];
    if (sum > goal) break;
  }
  return {token_at(drawn), weights_[drawn] / total_weight_};
}

// Those whose value is at least `bound` and above 0, for weights.
std::span<const int32_t> Candidates::places_from(const float* values, double bound) {
  const float least = std::max(static_cast<float>(bound), kLeastWeight);
  return {places_.data(), math_.places_from(values, count_, least, places_.data())};
}

void Candidates::keep_from(double least_logit) {
  const auto bound = static_cast<float>(std::max(least_logit, double{kLeastLogit}));
  keep_places({places_.data(), math_.places_from(logits_, count_, bound, places_.data())});
}

void Candidates::keep_places(std::span<const int32_t> places) {
  if (places.size() == count_) return;
  for (size_t i = 0; i < places.size(); i++) {
    logits_[i] = logits_[places[i]];
    tokens_[i] = token_at(static_cast<size_t>(places[i]));
  }
  count_ = places.size();
  dropped_any_ = true;
  weighed_ = false;
}

// Keeps the nearest of `places`, which lie in places_, until their weight reaches the goal.
template <typename Distance>
void Candidates::keep_nearest(std::span<const int32_t> places, Distance distance, double goal) {
  goal = std::max(goal, std::numeric_limits<double>::min());  // at least one
  size_t bucket = 0;
  const bool narrowed = places.size() > kFew;
  if (narrowed) {
    std::fill(bucket_weights_.begin(), bucket_weights_.end(), 0);
    for (const int32_t place : places)
      bucket_weights_[bucket_of(distance(place))] += weights_[static_cast<size_t>(place)];
    while (bucket < kBuckets - 1 && bucket_weights_[bucket] < goal)
      goal -= bucket_weights_[bucket++];
  }
  choices_.clear();
  for (const int32_t place : places) {
    const double d = distance(place);
    if (narrowed && bucket_of(d) != bucket) continue;
    const auto at = static_cast<size_t>(place);
    choices_.push_back({d, weights_[at], {logits_[at], token_at(at)}});
  }
  if (choices_.empty()) return keep_places(places);  // rounding put the goal behind them all
  const Choice last = last_within(goal);

  size_t kept = 0;
  for (const int32_t place : places) {
    const auto at = static_cast<size_t>(place);
    const Choice choice{distance(place), 0, {logits_[at], token_at(at)}};
    if (!(last < choice)) places_[kept++] = place;
  }
  keep_places({places_.data(), kept});
}

// The last choice that is needed to reach the goal, in their order; they are shuffled. How many are
// needed is in (least, most], and those before `least` weigh `sum`, less than the goal. Selecting
// around the middle halves the range.
const Candidates::Choice& Candidates::last_within(double goal) {
  size_t least = 0, most = choices_.size();
  double sum = 0;
  while (most - least > 1) {
    const size_t middle = least + (most - least) / 2;
    const auto from = choices_.begin() + static_cast<ptrdiff_t>(least);
    const auto to = choices_.begin() + static_cast<ptrdiff_t>(middle);
    std::nth_element(from, to, choices_.begin() + static_cast<ptrdiff_t>(most));
    double half = 0;
    for (auto choice = from; choice != to; ++choice) half += choice->weight;
    if (sum + half >= goal) {
      most = middle;
    } else {
      sum += half;
      least = middle;
    }
  }
  return choices_[least];
}

}  // namespace sampler
