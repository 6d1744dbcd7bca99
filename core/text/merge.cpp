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

void Merger::merge_all() {
  const auto count = static_cast<uint32_t>(symbols_.size());
  heap_.clear();
  for (uint32_t i = 0; i < count; ++i) {
    symbols_[i].previous = i - 1;
    symbols_[i].next = i + 1;
    if (i + 1 == count) continue;
    const Merge pair = merges_.find(symbols_[i].id, symbols_[i + 1].id);
    symbols_[i].pair = pair;
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
    update_pair(left);
    if (left > 0) update_pair(symbol.previous);
  }
}

void Merger::update_pair(uint32_t left) {
  Symbol& symbol = symbols_[left];
  symbol.pair =
      symbol.next < symbols_.size() ? merges_.find(symbol.id, symbols_[symbol.next].id) : Merge{};
  if (symbol.pair.result == kNoToken) return;
  heap_.push_back(uint64_t{symbol.pair.rank} << 32U | left);
  std::ranges::push_heap(heap_, std::greater<>());
}

}  // namespace halogen::text
