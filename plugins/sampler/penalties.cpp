#include "penalties.h"

#include <algorithm>

namespace sampler {

namespace {

// How many of the last tokens can ever count at once.
size_t counted(size_t all, int32_t penalty_window) {
  return penalty_window < 0 ? all : std::min(all, static_cast<size_t>(penalty_window));
}

}  // namespace

TokenHistory::TokenHistory(std::span<const int32_t> prompt, uint32_t max_tokens,
                           int32_t penalty_window, uint32_t vocabulary_size)
    : table_(std::min<size_t>(
          std::min(prompt.size(), counted(prompt.size() + max_tokens, penalty_window)) + max_tokens,
          vocabulary_size)),
      prompt_length_(prompt.size()) {
  const size_t all = prompt.size() + max_tokens;
  const size_t last = counted(all, penalty_window);
  if (last < all) {
    window_.resize(last);
    // What would leave the window before the answer begins need not come in.
    const size_t skipped = prompt.size() - std::min(prompt.size(), last);
    prompt = prompt.subspan(skipped);
    length_ = skipped;
  }
  entries_.reserve(std::min<size_t>(prompt.size() + max_tokens, vocabulary_size));
  for (int32_t token : prompt) append(token);
}

void TokenHistory::accept(int32_t token) {
  append(token);
}

void TokenHistory::append(int32_t token) {
  if (!window_.empty()) {
    int32_t& place = window_[length_ % window_.size()];
    if (held_ == window_.size()) {
      Entry& leaving = entry_of(place);
      leaving.seen--;
      leaving.generated -= length_ - window_.size() >= prompt_length_;
    } else {
      held_++;
    }
    place = token;
  }
  Entry& entry = entry_of(token);
  entry.seen++;
  entry.generated += length_ >= prompt_length_;
  length_++;
}

TokenHistory::Entry& TokenHistory::entry_of(int32_t token) {
  const uint32_t number = table_.number_of(token);
  if (number == entries_.size()) entries_.push_back({token, 0, 0});
  return entries_[number];
}

void apply_penalties(const Parameters& parameters, std::span<const TokenHistory::Entry> entries,
                     Candidates& candidates) {
  candidates.begin_changes();
  for (const TokenHistory::Entry& entry : entries) {
    if (entry.seen == 0) continue;
    float* const held = candidates.logit_of(entry.token);
    if (held == nullptr) continue;
    double logit = *held;
    logit =
        logit > 0 ? logit / parameters.repetition_penalty : logit * parameters.repetition_penalty;
    if (entry.generated > 0)
      logit -= parameters.presence_penalty + parameters.frequency_penalty * entry.generated;
    *held = static_cast<float>(logit);
  }
}

}  // namespace sampler
