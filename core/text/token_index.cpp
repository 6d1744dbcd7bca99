#include "core/text/token_index.h"

#include <bit>
#include <functional>
#include <utility>

namespace halogen::text {

TokenIndex::TokenIndex(std::vector<std::string_view> texts)
    : texts_(std::move(texts)), slots_(std::bit_ceil(2 * texts_.size() + 1), kNoToken) {
  for (size_t id = 0; id < texts_.size(); ++id) {
    if (texts_[id].empty()) continue;
    TokenId& slot = slots_[slot_of(texts_[id])];
    if (slot == kNoToken) slot = static_cast<TokenId>(id);
  }
}

TokenId TokenIndex::find(std::string_view text) const {
  return slots_.empty() ? kNoToken : slots_[slot_of(text)];
}

// The slot that holds `text`, or the free one where it would go.
size_t TokenIndex::slot_of(std::string_view text) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = std::hash<std::string_view>{}(text)&mask;
  while (slots_[slot] != kNoToken && texts_[static_cast<size_t>(slots_[slot])] != text) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

}  // namespace halogen::text
