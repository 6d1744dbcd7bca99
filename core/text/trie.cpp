#include "core/text/trie.h"

#include <algorithm>
#include <utility>

namespace halogen::text {

namespace {

constexpr uint32_t kBytes = 256;
constexpr Trie::Node kNobody = UINT32_MAX - 1;  // parent of cells that are in use, but no child

}  // namespace

// Places the nodes breadth first. Free cells are chained in a list, because scanning the used ones
// for room would take quadratic time.
class Trie::Builder {
 public:
  explicit Builder(const std::vector<std::string_view>& texts) {
    for (size_t id = 0; id < texts.size(); ++id) {
      if (!texts[id].empty()) keys_.emplace_back(texts[id], static_cast<TokenId>(id));
    }
    std::ranges::sort(keys_);
    const auto same = std::ranges::unique(keys_, {}, &Key::first);  // the lowest id stays
    keys_.erase(same.begin(), same.end());
  }

  std::vector<Cell> build() {
    grow(2 * kBytes);
    // The cells before the second block suit few bytes and would only be looked at in vain.
    for (uint32_t cell = kRoot; cell < kBytes; ++cell) take(cell, kNobody);
    std::vector<Range> ranges = {{kRoot, 0, keys_.size(), 0}};
    for (size_t i = 0; i < ranges.size(); ++i) place_children(Range(ranges[i]), ranges);
    cells_.resize(used_end_ + kBytes);
    cells_.shrink_to_fit();
    return std::move(cells_);
  }

 private:
  using Key = std::pair<std::string_view, TokenId>;

  // The keys that pass through a node, which all share their first `depth` bytes.
  struct Range {
    Node node;
    size_t begin;
    size_t end;
    size_t depth;
  };

  void place_children(Range range, std::vector<Range>& ranges) {
    if (range.begin < range.end && keys_[range.begin].first.size() == range.depth) {
      cells_[range.node].id = keys_[range.begin++].second;
    }
    if (range.begin == range.end) return;
    children_.clear();
    for (size_t i = range.begin; i < range.end; ++i) {
      const auto byte = static_cast<uint8_t>(keys_[i].first[range.depth]);
      if (children_.empty() || children_.back().first != byte) children_.emplace_back(byte, i);
    }
    const uint32_t base = find_base();
    cells_[range.node].base = base;
    for (size_t i = 0; i < children_.size(); ++i) {
      const auto [byte, first] = children_[i];
      take(base + byte, range.node);
      const size_t last = i + 1 < children_.size() ? children_[i + 1].second : range.end;
      ranges.push_back({base + byte, first, last, range.depth + 1});
    }
  }

  // Where all children find a free cell. Looking at few places only keeps this linear: the list
  // begins with the places that were left over again and again.
  uint32_t find_base() {
    constexpr int kTries = 64;
    const uint32_t first = children_[0].first;
    uint32_t cell = free_head_;
    for (int tries = 0; tries < kTries && cell != kNone; ++tries, cell = next_free_[cell]) {
      const uint32_t base = cell - first;
      if (base + kBytes > cells_.size()) break;
      const bool fits = std::ranges::all_of(
          children_, [&](const auto& child) { return is_free(base + child.first); });
      if (fits) return base;
    }
    if (children_.size() == 1) {  // any free cell will do, and there is none left to the right
      const auto end = static_cast<uint32_t>(cells_.size());
      grow(cells_.size() + kBytes);
      return end - first;
    }
    const uint32_t base = std::max(used_end_, first) - first;
    while (base + kBytes > cells_.size()) grow(cells_.size() + cells_.size() / 4 + kBytes);
    return base;
  }

  bool is_free(uint32_t cell) const { return cells_[cell].parent == kNone; }

  void grow(size_t size) {
    const auto old = static_cast<uint32_t>(cells_.size());
    cells_.resize(size);
    next_free_.resize(size);
    previous_free_.resize(size);
    for (auto cell = old; cell < size; ++cell) {
      next_free_[cell] = kNone;
      previous_free_[cell] = free_tail_;
      (free_tail_ == kNone ? free_head_ : next_free_[free_tail_]) = cell;
      free_tail_ = cell;
    }
  }

  void take(uint32_t cell, Node parent) {
    cells_[cell].parent = parent;
    used_end_ = std::max(used_end_, cell + 1);
    const uint32_t next = next_free_[cell];
    const uint32_t previous = previous_free_[cell];
    (previous == kNone ? free_head_ : next_free_[previous]) = next;
    (next == kNone ? free_tail_ : previous_free_[next]) = previous;
  }

  std::vector<Key> keys_;  // sorted
  std::vector<std::pair<uint8_t, size_t>> children_;
  std::vector<Cell> cells_;
  std::vector<uint32_t> next_free_;
  std::vector<uint32_t> previous_free_;
  uint32_t free_head_ = kNone;
  uint32_t free_tail_ = kNone;
  uint32_t used_end_ = 0;
};

Trie::Trie(const std::vector<std::string_view>& texts) : cells_(Builder(texts).build()) {}

Trie::Node Trie::walk(std::string_view text) const {
  Node node = kRoot;
  for (const char byte : text) {
    node = child(node, byte);
    if (node == kNone) break;
  }
  return node;
}

}  // namespace halogen::text
