#include "core/text/special_tokens.h"

namespace halogen::text {

SpecialTokens::SpecialTokens() : nodes_(1) {}

void SpecialTokens::add(std::string_view text, TokenId id) {
  uint32_t node = roots_[static_cast<uint8_t>(text[0])];
  if (node == 0) {
    node = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back({.byte = text[0]});
    roots_[static_cast<uint8_t>(text[0])] = node;
  }
  for (const char byte : text.substr(1)) {
    uint32_t next = child(node, byte);
    if (next == 0) {
      next = static_cast<uint32_t>(nodes_.size());
      nodes_.push_back({.next_sibling = nodes_[node].first_child, .byte = byte});
      nodes_[node].first_child = next;
    }
    node = next;
  }
  if (nodes_[node].id == kNoToken) nodes_[node].id = id;
}

SpecialMatch SpecialTokens::find(std::string_view text, size_t from) const {
  for (size_t begin = from; begin < text.size(); ++begin) {
    if (roots_[static_cast<uint8_t>(text[begin])] == 0) continue;
    const SpecialMatch match = longest_at(text, begin);
    if (match.id != kNoToken) return match;
  }
  return {};
}

uint32_t SpecialTokens::child(uint32_t node, char byte) const {
  uint32_t next = nodes_[node].first_child;
  while (next != 0 && nodes_[next].byte != byte) next = nodes_[next].next_sibling;
  return next;
}

SpecialMatch SpecialTokens::longest_at(std::string_view text, size_t begin) const {
  SpecialMatch longest;
  uint32_t node = roots_[static_cast<uint8_t>(text[begin])];
  size_t end = begin + 1;
  while (node != 0) {
    if (nodes_[node].id != kNoToken) longest = {begin, end - begin, nodes_[node].id};
    if (end == text.size()) break;
    node = child(node, text[end++]);
  }
  return longest;
}

}  // namespace halogen::text
