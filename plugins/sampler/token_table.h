// Numbers for the distinct tokens of a sequence, so that what is known of each fits an array.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace sampler {

// A hash table with open addressing. Within the number of distinct tokens that it was made for it
// never allocates.
class TokenTable {
 public:
  explicit TokenTable(size_t distinct) {
    tokens_.reserve(distinct);
    rebuild(std::bit_ceil(2 * distinct + 1));
  }

  // 0, 1, 2, ... in order of first appearance.
  uint32_t number_of(int32_t token) {
    size_t slot = first_slot(token);
    while (slots_[slot] != 0) {
      if (tokens_[slots_[slot] - 1] == token) return slots_[slot] - 1;
      slot = (slot + 1) & (slots_.size() - 1);
    }
    tokens_.push_back(token);
    slots_[slot] = static_cast<uint32_t>(tokens_.size());
    if (2 * tokens_.size() > slots_.size()) rebuild(2 * slots_.size());
    return static_cast<uint32_t>(tokens_.size() - 1);
  }

  // By number.
  std::span<const int32_t> tokens() const { return tokens_; }

 private:
  // Fibonacci hashing spreads consecutive ids over the table.
  size_t first_slot(int32_t token) const {
    const uint64_t mixed = static_cast<uint64_t>(static_cast<uint32_t>(token)) * 0x9E3779B97F4A7C15;
    return static_cast<size_t>(mixed >> 32) & (slots_.size() - 1);
  }

  void rebuild(size_t slots) {
    slots_.assign(slots, 0);
    for (size_t i = 0; i < tokens_.size(); i++) {
      size_t slot = first_slot(tokens_[i]);
      while (slots_[slot] != 0) slot = (slot + 1) & (slots - 1);
      slots_[slot] = static_cast<uint32_t>(i + 1);
    }
  }

  std::vector<int32_t> tokens_;
  std::vector<uint32_t> slots_;  // a power of two: 1 + a token's number, or 0
};

}  // namespace sampler
