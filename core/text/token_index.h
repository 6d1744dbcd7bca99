// From a token's text to its id: an open-addressing table of ids beside the texts, 4 bytes a slot,
// because vocabularies hold up to a quarter of a million tokens and a node-based map would cost
// more than the texts themselves.
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
  size_t slot_of(std::string_view text) const;

  std::vector<std::string_view> texts_;
  std::vector<TokenId> slots_;  // a power of two of them, at most half in use
};

}  // namespace halogen::text
