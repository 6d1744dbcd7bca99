#include "core/text/merge.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace halogen::text {

namespace {

constexpr uint64_t kFree = ~uint64_t{0};

uint64_t pair_of(TokenId left, TokenId right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32U | static_cast<uint32_t>(right);
}

}  // namespace

MergeTable::MergeTable(size_t count)
    : slots_(std::max<size_t>(2, std::bit_ceil(2 * count)), Slot{kFree, {}}),
      shift_(64U - static_cast<unsigned>(std::countr_zero(slots_.size()))) {}

void MergeTable::add(TokenId left, TokenId right, Merge merge) {
  const uint64_t pair = pair_of(left, right);
  Slot& slot = slots_[slot_of(pair)];
  if (slot.pair == kFree) slot = {pair, merge};
}

Merge MergeTable::find(TokenId left, TokenId right) const {
  if (left < 0 || right < 0) return {};
  return slots_[slot_of(pair_of(left, right))].merge;
}

size_t MergeTable::slot_of(uint64_t pair) const {
  size_t slot = static_cast<size_t>((pair * 0x9E3779B97F4A7C15U) >> shift_);
  while (slots_[slot].pair != kFree && slots_[slot].pair != pair) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

void Merger::List::merge(const MergeTable& merges, std::span<const TokenId> ids) {
  const auto count = static_cast<uint32_t>(ids.size());
  symbols_.resize(count);
  heap_.clear();
  for (uint32_t i = 0; i < count; ++i) {
    const Merge pair = i + 1 < count ? merges.find(ids[i], ids[i + 1]) : Merge{};
    symbols_[i] = {ids[i], i - 1, i + 1, pair};
    if (pair.result != kNoToken) heap_.push_back(uint64_t{pair.rank} << 32U | i);
  }
  std::ranges::make_heap(heap_, std::greater<>());

  while (!heap_.empty()) {
    std::ranges::pop_heap(heap_, std::greater<>());
    const uint64_t best = heap_.back();
    heap_.pop_back();
    const auto left = static_cast<uint32_t>(best);
    Symbol& symbol = symbols_[left];
    // A pair that changed since has no merge, or another rank and an entry of its own; with the
    // same rank it is due now all the same.
    if (symbol.pair.result == kNoToken || symbol.pair.rank != best >> 32U) continue;

    Symbol& right = symbols_[symbol.next];
    symbol.id = symbol.pair.result;
    symbol.next = right.next;
    right.pair = {};
    if (symbol.next < count) symbols_[symbol.next].previous = left;
    update_pair(merges, left);
    if (left > 0) update_pair(merges, symbol.previous);
  }
}

void Merger::List::update_pair(const MergeTable& merges, uint32_t left) {
  Symbol& symbol = symbols_[left];
  symbol.pair =
      symbol.next < symbols_.size() ? merges.find(symbol.id, symbols_[symbol.next].id) : Merge{};
  if (symbol.pair.result == kNoToken) return;
  heap_.push_back(uint64_t{symbol.pair.rank} << 32U | left);
  std::ranges::push_heap(heap_, std::greater<>());
}

void Merger::merge_by_windows() {
  const auto count = static_cast<uint32_t>(word_.size());
  uint32_t window = window_;
  uint32_t begin = 0;
  parts_.clear();
  while (true) {
    const uint32_t end = count - begin > window ? begin + window : count;
    list_.merge(merges_, piece(begin, end));
    for (size_t back = 1; !parts_.empty(); back *= 2) {
      if (stays_apart(parts_.back().first, begin, begin + list_.end_of(0))) break;
      parts_.resize(parts_.size() - std::min(back, parts_.size()) + 1);
      begin = parts_.back().first;
      parts_.pop_back();
      list_.merge(merges_, piece(begin, end));
    }
    window = std::max(window, end - begin);
    list_.for_each([&](TokenId id, uint32_t first) { parts_.push_back({id, begin + first}); });
    if (end == count) return;
    // The window's end most likely cut its last symbol.
    begin = parts_.back().first;
    parts_.pop_back();
    if (end - begin > window / 2) window *= 2;
  }
}

bool Merger::stays_apart(uint32_t left_first, uint32_t right_first, uint32_t right_end) {
  seam_.merge(merges_, piece(left_first, right_end));
  return seam_.end_of(0) == right_first - left_first &&
         seam_.end_of(right_first - left_first) == right_end - left_first;
}

}  // namespace halogen::text
