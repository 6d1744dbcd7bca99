// Which tokens a sequence has seen, and what that does to their logits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "candidates.h"
#include "parameters.h"
#include "token_table.h"

namespace sampler {

// Counts of the distinct tokens among the last `penalty_window` of a sequence. Reserves room for
// the prompt and `max_tokens` more; within that, accept() takes constant time and never allocates.
// A window that takes in all of these counts as unlimited.
class TokenHistory {
 public:
  struct Entry {
    int32_t token;
    uint32_t seen;       // in prompt and answer
    uint32_t generated;  // in the answer
  };

  TokenHistory(std::span<const int32_t> prompt, uint32_t max_tokens, int32_t penalty_window,
               uint32_t vocabulary_size);

  // A token of the answer.
  void accept(int32_t token);

  // Every token seen so far once, in order of first appearance; one that has left the window
  // counts 0.
  std::span<const Entry> entries() const { return entries_; }

 private:
  void append(int32_t token);
  Entry& entry_of(int32_t token);

  TokenTable table_;
  std::vector<Entry> entries_;   // by number in the table
  std::vector<int32_t> window_;  // ring of the last tokens; empty where all count
  size_t held_ = 0;              // of its places, how many are filled
  uint64_t length_ = 0;          // of the sequence so far
  const uint64_t prompt_length_;
};

// For a token that was seen: x / repetition or, below zero, x * repetition (Keskar et al. 2019,
// "CTRL", with the sign taken into account). For one that was generated: minus presence, and minus
// frequency for each time.
void apply_penalties(const Parameters& parameters, std::span<const TokenHistory::Entry> entries,
                     Candidates& candidates);

}  // namespace sampler
