// Byte-pair merging, the core of the BPE tokenizers: of all neighbouring symbols that have a merge,
// the one of the best rank is joined (the leftmost among equals), until none is left. A heap over a
// linked list does that in n log n steps.
//
// A long word is merged window by window, which keeps the time linear and the memory small. What
// makes that exact: symbols are the merging of their text if each neighbouring two of them are the
// merging of theirs. For as long as no merge has crossed a border between them, what lies between
// two borders has been merged as if it stood alone; and the first merge that would cross one would
// do so too if only the two symbols beside it were there. So windows can be joined where the
// symbols at the seam stay apart; where they do not, the second window begins further to the left.
#pragma once

#include <cstdint>
#include <span>
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
  // Words of more symbols than `window` are merged by windows.
  explicit Merger(const MergeTable& merges, uint32_t window = 512)
      : merges_(merges), window_(window) {}

  // Begins a word.
  void begin() { word_.clear(); }

  // Appends a symbol to the word; a negative id takes part in no merge.
  void push(TokenId id) { word_.push_back(id); }

  // Merges the word. Afterwards each(id, first) is called for every symbol left, in order: its id
  // and the number of the pushed symbol that it begins with.
  template <typename Each>
  void merge(const Each& each) {
    if (word_.size() <= window_) {
      list_.merge(merges_, word_);
      list_.for_each(each);
    } else {
      merge_by_windows();
      for (const Part& part : parts_) each(part.id, part.first);
    }
  }

 private:
  // The symbols of a piece of the word, while they are merged.
  class List {
   public:
    void merge(const MergeTable& merges, std::span<const TokenId> ids);

    template <typename Each>
    void for_each(const Each& each) const {
      for (uint32_t i = 0; i < symbols_.size(); i = symbols_[i].next) each(symbols_[i].id, i);
    }

    // Where the symbol that begins at `first` ends.
    uint32_t end_of(uint32_t first) const { return symbols_[first].next; }

   private:
    struct Symbol {
      TokenId id;
      uint32_t previous;
      uint32_t next;
      Merge pair;  // of this symbol and the next
    };

    void update_pair(const MergeTable& merges, uint32_t left);

    std::vector<Symbol> symbols_;
    std::vector<uint64_t> heap_;  // rank << 32 | left symbol; may hold pairs that no longer exist
  };

  struct Part {
    TokenId id;
    uint32_t first;
  };

  void merge_by_windows();
  bool stays_apart(uint32_t left_first, uint32_t right_first, uint32_t right_end);
  std::span<const TokenId> piece(uint32_t begin, uint32_t end) const {
    return std::span(word_).subspan(begin, end - begin);
  }

  const MergeTable& merges_;
  uint32_t window_;
  std::vector<TokenId> word_;
  List list_;
  List seam_;
  std::vector<Part> parts_;
};

}  // namespace halogen::text
