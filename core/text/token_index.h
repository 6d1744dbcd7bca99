// From a token's text to its id: an open-addressing table of ids beside the texts, 8 bytes a slot,
// because vocabularies hold up to a quarter of a million tokens and a node-based map would cost
// more than the texts themselves. A slot has half of its text's hash, so that a text is only read
// where it nearly surely is the one that is looked for: the texts lie all over memory.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/text/vocabulary.h"

namespace halogen::text {

class TokenIndex {
 public:
  TokenIndex() = default;

  // texts[id] is the text of that id; an empty text is not indexed, and of equal texts the lowest
  // id is found. The characters are borrowed for the life of the index.
  explicit TokenIndex(std::vector<std::string_view> texts);

  // [any] The id, or kNoToken.
  TokenId find(std::string_view text) const;

 private:
  struct Slot {
    uint32_t hash = 0;
    TokenId id = kNoToken;
  };

  size_t slot_of(std::string_view text, size_t hash) const;

  std::vector<std::string_view> texts_;
  std::vector<Slot> slots_;  // a power of two of them, at most half in use
};

}  // namespace halogen::text
