// Byte-pair merging, the core of both tokenizer kinds: of all neighbouring symbols that have a
// merge, the one of the best rank is joined (the leftmost among equals), until none is left. A heap
// over a linked list makes that O(n log n) for any input, a megabyte of one letter included.
#pragma once

#include <cstdint>
#include <vector>

#include "core/text/vocabulary.h"

namespace halogen::text {

struct Merge {
  uint32_t rank = 0;  // lower is merged first
  TokenId result = kNoToken;
};

// From a pair of symbol ids to its merge: open addressing, 16 bytes a slot.
class MergeTable {
 public:
  // Makes room for `count` merges; adding more than that is a mistake of the caller.
  explicit MergeTable(size_t count = 0);

  // Adds a merge; of several with one pair the first stays. Ids are not negative.
  void add(TokenId left, TokenId right, Merge merge);

  // [any] The merge of that pair; its result is kNoToken when there is none.
  Merge find(TokenId left, TokenId right) const;

 private:
  struct Slot {
    uint64_t pair;
    Merge merge;
  };

  size_t slot_of(uint64_t pair) const;

  std::vector<Slot> slots_;
  unsigned shift_;
};

// Merges one word at a time; keeps its buffers between words. Not for concurrent use.
class Merger {
 public:
  explicit Merger(const MergeTable& merges) : merges_(merges) {}

  // Begins a word of at most `most_symbols`.
  void begin(size_t most_symbols) {
    symbols_.clear();
    symbols_.reserve(most_symbols);
  }

  // Appends a symbol to the word; a negative id takes part in no merge.
  void push(TokenId id) { symbols_.push_back({id, 0, 0, {}}); }

  // Merges the word. Afterwards each(id, first) is called for every symbol left, in order: its id
  // and the number of the pushed symbol that it begins with.
  template <typename Each>
  void merge(const Each& each) {
    merge_all();
    for (uint32_t i = 0; i < symbols_.size(); i = symbols_[i].next) each(symbols_[i].id, i);
  }

 private:
  struct Symbol {
    TokenId id;
    uint32_t previous;
    uint32_t next;
    Merge pair;  // of this symbol and the next
  };

  void merge_all();
  void update_pair(uint32_t left);

  const MergeTable& merges_;
  std::vector<Symbol> symbols_;
  std::vector<uint64_t> heap_;  // rank << 32 | left symbol; may hold pairs that no longer exist
};

}  // namespace halogen::text
