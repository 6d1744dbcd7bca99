// DRY, "don't repeat yourself": which tokens would go on with a repetition, and how long it is.
//
// The rule is that of its author (P. E. Weidmann, text-generation-webui, 2024). Where the last n
// tokens of a sequence occurred before in it and were followed by the token t, t would extend a
// repetition of n tokens. Of all such n the largest counts, and t loses
// multiplier * base^(n - allowed_length) where n is at least allowed_length. A repetition does not
// reach across a sequence breaker, and a token that is a breaker by itself loses nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "candidates.h"
#include "parameters.h"
#include "sequence_breakers.h"
#include "token_table.h"

namespace sampler {

// The repetitions at the end of a sequence. Takes 12 bytes for each token of the prompt (or of what
// dry_penalty_last_n leaves of it) and for each of `max_tokens`; besides, for each of these up to
// the size of the vocabulary 36 to 44 bytes, and what the breakers take. Within `max_tokens`,
// accept() does not allocate.
//
// accept() takes time in proportion to how often the token that it is given occurs in the window:
// the length of the match that ends at each of those places is one more than the length at the
// place before it, which the last call has left there. The prompt is searched once, in linear time.
class Repetitions {
 public:
  struct Continuation {
    int32_t token;
    uint32_t length;  // of the longest repetition that it would extend; at least allowed_length
  };

  // `breakers` as SequenceBreakers takes them.
  Repetitions(const Parameters& parameters, std::span<const int32_t> breakers,
              std::span<const int32_t> prompt, uint32_t max_tokens, uint32_t vocabulary_size);

  void accept(int32_t token);

  // Each token once, in order of its last occurrence after such a match, latest first.
  std::span<const Continuation> continuations() const { return continuations_; }

 private:
  struct Distinct {
    int32_t last = -1;  // place of its last occurrence
    bool breaks = false;
    uint32_t found_at = 0;  // the search that last found it as a continuation
    uint32_t continuation = 0;
  };

  void append(int32_t token);
  void match_prompt();
  size_t window_start() const;
  bool ends_with_breaker(size_t length) const;
  void search();
  void found(size_t place, size_t length);

  const uint32_t allowed_length_;
  const int64_t window_;  // -1: all
  const SequenceBreakers breakers_;
  TokenTable table_;
  std::vector<Distinct> distinct_;  // by number in the table
  std::vector<uint32_t> sequence_;  // the tokens' numbers
  std::vector<int32_t> previous_;   // place of the same token's occurrence before, or -1
  std::vector<uint32_t> lengths_;   // of the match that ends at each place of the last token
  size_t since_breaker_ = 0;        // tokens after the last breaker
  uint32_t searches_ = 0;
  std::vector<Continuation> continuations_;
};

void apply_dry(const Parameters& parameters,
               std::span<const Repetitions::Continuation> continuations, Candidates& candidates);

}  // namespace sampler
