// Finds special tokens written out in text. All texts lie in one trie, so that each position of the
// text is looked at once however many special tokens there are (Gemma has over six thousand).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text/vocabulary.h"

namespace halogen::text {

struct SpecialMatch {
  size_t begin = 0;  // byte offset
  size_t length = 0;
  TokenId id = kNoToken;  // kNoToken: none found
};

class SpecialTokens {
 public:
  SpecialTokens();

  // Adds a text that must not be empty; of equal texts the first stays.
  void add(std::string_view text, TokenId id);

  // [any] The first special token at or after `from`; of several that begin there the longest.
  SpecialMatch find(std::string_view text, size_t from) const;

 private:
  struct Node {
    uint32_t first_child = 0;
    uint32_t next_sibling = 0;
    TokenId id = kNoToken;
    char byte = 0;
  };

  uint32_t child(uint32_t node, char byte) const;
  SpecialMatch longest_at(std::string_view text, size_t begin) const;

  std::vector<Node> nodes_;  // nodes_[0] is no node, so that 0 can mean "none"
  std::array<uint32_t, 256> roots_{};
};

}  // namespace halogen::text
