#include "penalties.h"

#include <algorithm>
#include <bit>

namespace sampler {

namespace {

// Fibonacci hashing spreads consecutive ids over the table.
size_t slot_of(int32_t token, size_t slots) {
  const uint64_t mixed = static_cast<uint64_t>(static_cast<uint32_t>(token)) * 0x9E3779B97F4A7C15;
  return static_cast<size_t>(mixed >> 32) & (slots - 1);
}

}  // namespace

TokenHistory::TokenHistory(std::span<const int32_t> prompt, uint32_t max_tokens,
                           int32_t penalty_window, uint32_t vocabulary_size)
    : prompt_length_(prompt.size()) {
  const size_t all = prompt.size() + max_tokens;
  if (penalty_window >= 0 && static_cast<size_t>(penalty_window) < all) {
    window_.resize(static_cast<size_t>(penalty_window));
    // What would leave the window before the answer begins need not come in.
    const size_t skipped = prompt.size() - std::min(prompt.size(), window_.size());
    prompt = prompt.subspan(skipped);
    length_ = skipped;
  }
  const size_t distinct = std::min<size_t>(prompt.size() + max_tokens, vocabulary_size);
  entries_.reserve(distinct);
  rebuild_index(std::bit_ceil(2 * distinct + 1));
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
  size_t slot = slot_of(token, index_.size());
  while (index_[slot] != 0) {
    Entry& entry = entries_[index_[slot] - 1];
    if (entry.token == token) return entry;
    slot = (slot + 1) & (index_.size() - 1);
  }
  entries_.push_back({token, 0, 0});
  index_[slot] = static_cast<uint32_t>(entries_.size());
  // Only a sequence that goes on beyond max_tokens comes here.
  if (2 * entries_.size() > index_.size()) rebuild_index(2 * index_.size());
  return entries_.back();
}

void TokenHistory::rebuild_index(size_t slots) {
  index_.assign(slots, 0);
  for (size_t i = 0; i < entries_.size(); i++) {
    size_t slot = slot_of(entries_[i].token, slots);
    while (index_[slot] != 0) slot = (slot + 1) & (slots - 1);
    index_[slot] = static_cast<uint32_t>(i + 1);
  }
}

void apply_penalties(const Parameters& parameters, std::span<const TokenHistory::Entry> entries,
                     float* logits) {
  for (const TokenHistory::Entry& entry : entries) {
    if (entry.seen == 0) continue;
    double logit = logits[entry.token];
    logit =
        logit > 0 ? logit / parameters.repetition_penalty : logit * parameters.repetition_penalty;
    if (entry.generated > 0)
      logit -= parameters.presence_penalty + parameters.frequency_penalty * entry.generated;
    logits[entry.token] = static_cast<float>(logit);
  }
}

}  // namespace sampler
