#include "repetitions.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sampler {

Repetitions::Repetitions(const Parameters& parameters, std::span<const int32_t> breakers,
                         std::span<const int32_t> prompt, uint32_t max_tokens,
                         uint32_t vocabulary_size)
    : allowed_length_(parameters.dry_allowed_length),
      window_(parameters.dry_penalty_last_n),
      breakers_(breakers),
      table_(std::min<size_t>(prompt.size() + max_tokens, vocabulary_size)) {
  if (window_ >= 0 && prompt.size() > static_cast<size_t>(window_))
    prompt = prompt.subspan(prompt.size() - static_cast<size_t>(window_));
  const size_t all = prompt.size() + max_tokens;
  const size_t distinct = std::min<size_t>(all, vocabulary_size);
  distinct_.reserve(distinct);
  continuations_.reserve(distinct);
  sequence_.reserve(all);
  previous_.reserve(all);
  lengths_.reserve(all);
  for (const int32_t token : prompt) append(token);
  if (!prompt.empty()) match_prompt();
}

void Repetitions::append(int32_t token) {
  const uint32_t number = table_.number_of(token);
  if (number == distinct_.size()) distinct_.push_back({-1, breakers_.is_breaker(token), 0, 0});
  previous_.push_back(distinct_[number].last);
  distinct_[number].last = static_cast<int32_t>(sequence_.size());
  sequence_.push_back(number);
  lengths_.push_back(0);
}

size_t Repetitions::window_start() const {
  const auto length = static_cast<int64_t>(sequence_.size());
  return window_ >= 0 && length > window_ ? static_cast<size_t>(length - window_) : 0;
}

// Whether a breaker ends with the last of the first `length` tokens.
bool Repetitions::ends_with_breaker(size_t length) const {
  if (distinct_[sequence_[length - 1]].breaks) return true;
  const auto at = [&](size_t back) { return table_.tokens()[sequence_[length - 1 - back]]; };
  return breakers_.ends_here(at, length);
}

// The Z function of the reversed prompt: how many tokens the match of the prompt's end has that
// ends at each place (Gusfield 1997, "Algorithms on Strings, Trees, and Sequences", 1.3).
void Repetitions::match_prompt() {
  const size_t length = sequence_.size();
  while (since_breaker_ < length && !ends_with_breaker(length - since_breaker_)) since_breaker_++;
  const auto reversed = [&](size_t i) { return sequence_[length - 1 - i]; };
  const auto matched = [&](size_t i) -> uint32_t& { return lengths_[length - 1 - i]; };
  size_t left = 0, right = 0;  // the match that reaches furthest
  for (size_t i = 1; i < length; i++) {
    uint32_t n = i < right ? std::min(static_cast<uint32_t>(right - i), matched(i - left)) : 0;
    while (i + n < length && reversed(n) == reversed(i + n)) n++;
    matched(i) = n;
    if (i + n > right) {
      left = i;
      right = i + n;
    }
  }
  searches_++;
  const auto longest = static_cast<uint32_t>(since_breaker_);
  for (size_t place = length - 1; place-- > 0;) {
    lengths_[place] = std::min(lengths_[place], longest);
    if (lengths_[place] > 0) found(place, lengths_[place]);
  }
}

void Repetitions::accept(int32_t token) {
  append(token);
  since_breaker_ = ends_with_breaker(sequence_.size()) ? 0 : since_breaker_ + 1;
  continuations_.clear();
  if (since_breaker_ > 0) search();
}

// From the latest occurrence to the first, because a place takes the length that the last search
// left at the place before it.
void Repetitions::search() {
  searches_++;
  const size_t end = sequence_.size() - 1;
  const auto start = static_cast<int64_t>(window_start());
  for (int64_t place = previous_[end]; place >= start;
       place = previous_[static_cast<size_t>(place)]) {
    const auto at = static_cast<size_t>(place);
    // Where the token before is the first after a breaker or another one, no match goes on.
    const bool goes_on = since_breaker_ > 1 && at > 0 && sequence_[at - 1] == sequence_[end - 1];
    lengths_[at] = goes_on ? lengths_[at - 1] + 1 : 1;
    found(at, std::min(size_t{lengths_[at]}, at - static_cast<size_t>(start) + 1));
  }
}

// A repetition of `length` tokens ends at `place`.
void Repetitions::found(size_t place, size_t length) {
  if (length < allowed_length_) return;
  const uint32_t number = sequence_[place + 1];
  Distinct& next = distinct_[number];
  if (next.breaks) return;
  if (next.found_at != searches_) {
    next.found_at = searches_;
    next.continuation = static_cast<uint32_t>(continuations_.size());
    continuations_.push_back({table_.tokens()[number], 0});
  }
  uint32_t& longest = continuations_[next.continuation].length;
  longest = std::max(longest, static_cast<uint32_t>(length));
}

void apply_dry(const Parameters& parameters,
               std::span<const Repetitions::Continuation> continuations, Candidates& candidates) {
  if (continuations.empty()) return;
  candidates.begin_changes();
  for (const Repetitions::Continuation& continuation : continuations) {
    float* const held = candidates.logit_of(continuation.token);
    if (held == nullptr || std::isinf(*held)) continue;
    const double excess = continuation.length - parameters.dry_allowed_length;
    const double penalised =
        *held - parameters.dry_multiplier * std::pow(parameters.dry_base, excess);
    // However long the repetition: where nothing else is left, the token stays possible.
    constexpr double kLeast = std::numeric_limits<float>::lowest();
    *held = static_cast<float>(std::max(penalised, kLeast));
  }
}

}  // namespace sampler
