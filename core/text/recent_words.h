// Remembers the ids of words that were encoded before in the same text, for ordinary text repeats
// few words often. It holds no ids itself: they stand in the output already.
#pragma once

#include <algorithm>
#include <bit>
#include <functional>
#include <string_view>
#include <vector>

#include "core/text/vocabulary.h"

namespace halogen::text {

class RecentWords {
 public:
  // For a text of `bytes`; the text and `out`, to which ids are only appended, must outlive it.
  RecentWords(size_t bytes, std::vector<TokenId>& out)
      : slots_(std::bit_ceil(std::clamp<size_t>(bytes / kBytesPerSlot, 1, kMostSlots))),
        out_(out) {}

  // True when `word` was remembered, and its ids have been appended.
  bool append(std::string_view word) {
    const Slot& slot = slot_of(word);
    if (slot.word != word || word.empty()) return false;
    for (uint32_t i = 0; i < slot.count; ++i) out_.push_back(out_[slot.first + i]);
    return true;
  }

  // The ids of `word` are those from out[first] on.
  void remember(std::string_view word, size_t first) {
    if (word.size() > kLongestWord) return;
    slot_of(word) = {word, static_cast<uint32_t>(first),
                     static_cast<uint32_t>(out_.size() - first)};
  }

 private:
  static constexpr size_t kBytesPerSlot = 16;
  static constexpr size_t kMostSlots = 8192;  // a quarter of a megabyte
  static constexpr size_t kLongestWord = 64;

  struct Slot {
    std::string_view word;
    uint32_t first = 0;
    uint32_t count = 0;
  };

  Slot& slot_of(std::string_view word) {
    return slots_[std::hash<std::string_view>{}(word) & (slots_.size() - 1)];
  }

  std::vector<Slot> slots_;
  std::vector<TokenId>& out_;
};

}  // namespace halogen::text
