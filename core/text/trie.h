// A static trie over byte strings, for finding every token that a text begins with in one walk. It
// is a double array (Aoe 1989): the child of node n by byte b lies at base[n] + b, and belongs to n
// when its parent says so. A step is two array reads, whatever the number of children.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/text/vocabulary.h"

namespace halogen::text {

class Trie {
 public:
  using Node = uint32_t;

  static constexpr Node kRoot = 0;
  static constexpr Node kNone = UINT32_MAX;

  Trie() : Trie(std::vector<std::string_view>{}) {}

  // texts[id] is the text of that id; an empty text is left out, and of equal texts the lowest id
  // is found. The texts are only read here. Takes time and memory in proportion to their bytes.
  explicit Trie(const std::vector<std::string_view>& texts);

  // [any] The child of `node` by `byte`, or kNone.
  Node child(Node node, char byte) const {
    const Node next = cells_[node].base + static_cast<uint8_t>(byte);
    return cells_[next].parent == node ? next : kNone;
  }

  // [any] The id whose text leads to `node`, or kNoToken.
  TokenId id(Node node) const { return cells_[node].id; }

  // [any] The node that `text` leads to from the root, or kNone.
  Node walk(std::string_view text) const;

 private:
  struct Cell {
    uint32_t base = 0;
    Node parent = kNone;
    TokenId id = kNoToken;
  };
  class Builder;

  std::vector<Cell> cells_;  // with 256 spare ones at the end, so that child() needs no bounds
};

}  // namespace halogen::text
