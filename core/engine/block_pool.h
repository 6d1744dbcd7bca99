// Which blocks of the KV pool are free and how many sequences hold each of the others.
//
// The pool itself is the backend's memory; this is the core's book about it. Blocks are counted
// rather than owned, so that sequences with the same beginning, and the prefix cache, can hold the
// same blocks. Every call takes constant time and nothing is allocated after construction. The
// states of recurrent layers, one slot for each running sequence, and the places of the second tier
// are booked in the same way.
#pragma once

#include <cassert>
#include <cstdint>
#include <vector>

namespace halogen {

// Not thread-safe: the engine thread alone uses it.
class BlockPool {
 public:
  // Blocks 0 to total - 1, all free.
  explicit BlockPool(uint32_t total) : holders_(total, 0), free_(total) {
    // The free list is a stack; filled downwards, so that block 0 is handed out first.
    for (uint32_t i = 0; i < total; i++) free_[i] = total - 1 - i;
  }

  uint32_t total() const { return static_cast<uint32_t>(holders_.size()); }
  uint32_t free_count() const { return static_cast<uint32_t>(free_.size()); }
  uint32_t used_count() const { return total() - free_count(); }

  uint32_t holders(uint32_t block) const { return holders_[block]; }

  // A free block, now held once. There must be one.
  uint32_t take() {
    assert(!free_.empty() && "the plan was checked against the number of free blocks");
    const uint32_t block = free_.back();
    free_.pop_back();
    holders_[block] = 1;
    return block;
  }

  // One more holder of a block that is in use.
  void share(uint32_t block) {
    assert(holders_[block] > 0);
    holders_[block]++;
  }

  // One holder less; the last one frees the block.
  void release(uint32_t block) {
    assert(holders_[block] > 0);
    if (--holders_[block] == 0) free_.push_back(block);
  }

 private:
  std::vector<uint32_t> holders_;
  std::vector<uint32_t> free_;
};

}  // namespace halogen
