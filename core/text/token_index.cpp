#include "core/text/token_index.h"

#include <bit>
#include <functional>
#include <utility>

namespace halogen::text {

namespace {

// The half that does not choose the slot of a small table.
uint32_t kept(size_t hash) {
  return static_cast<uint32_t>(hash >> 32U);
}

}  // namespace

TokenIndex::TokenIndex(std::vector<std::string_view> texts)
    : texts_(std::move(texts)), slots_(std::bit_ceil(2 * texts_.size() + 1)) {
  for (size_t id = 0; id < texts_.size(); ++id) {
    if (texts_[id].empty()) continue;
    const size_t hash = std::hash<std::string_view>{}(texts_[id]);
    Slot& slot = slots_[slot_of(texts_[id], hash)];
    if (slot.id == kNoToken) slot = {kept(hash), static_cast<TokenId>(id)};
  }
}

TokenId TokenIndex::find(std::string_view text) const {
  if (slots_.empty()) return kNoToken;
  return slots_[slot_of(text, std::hash<std::string_view>{}(text))].id;
}

// The slot that holds `text`, or the free one where it would go.
size_t TokenIndex::slot_of(std::string_view text, size_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  while (slots_[slot].id != kNoToken && (slots_[slot].hash != kept(hash) ||
                                         texts_[static_cast<size_t>(slots_[slot].id)] != text)) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

}  // namespace halogen::text
