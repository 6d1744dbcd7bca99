// Test support: a SentencePiece character map, written as the format has it (Yata's Darts-clone).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace halogen::text::testing {

class CharacterMapBuilder {
 public:
  // From keys to replacements; no key is empty.
  explicit CharacterMapBuilder(const std::map<std::string, std::string>& map) : units_(256) {
    for (const auto& [key, replacement] : map) {
      keys_.push_back({key, static_cast<uint32_t>(replacements_.size())});
      replacements_ += replacement;
      replacements_.push_back('\0');
    }
    place(0, 0, keys_.size(), 0);
  }

  std::string bytes() const {
    std::string bytes;
    append(static_cast<uint32_t>(4 * units_.size()), bytes);
    for (const uint32_t unit : units_) append(unit, bytes);
    return bytes + replacements_;
  }

 private:
  struct Key {
    std::string text;
    uint32_t replacement;
  };

  static void append(uint32_t number, std::string& bytes) {
    for (uint32_t i = 0; i < 4; ++i) bytes.push_back(static_cast<char>(number >> 8U * i));
  }

  // The children of `node`: those keys [begin, end) that agree in their first `depth` bytes. A
  // child lies at the node's place xor its offset xor the byte; 0 stands for the end of a key.
  void place(uint32_t node, size_t begin, size_t end, size_t depth) {
    const uint32_t base = free_block();
    const uint32_t offset = node ^ base;
    units_[node] |= offset << 10U;
    for (size_t i = begin; i < end;) {
      if (keys_[i].text.size() == depth) {
        units_[node] |= 1U << 8U;
        units_[base] = keys_[i].replacement | 1U << 31U;
        ++i;
        continue;
      }
      const auto byte = static_cast<uint8_t>(keys_[i].text[depth]);
      size_t last = i;
      while (last < end && static_cast<uint8_t>(keys_[last].text[depth]) == byte) ++last;
      units_[base ^ byte] = byte;
      place(base ^ byte, i, last, depth + 1);
      i = last;
    }
  }

  // Wasteful but simple: every node has 256 units of its own for its children.
  uint32_t free_block() {
    const auto base = static_cast<uint32_t>(units_.size());
    units_.resize(units_.size() + 256);
    return base;
  }

  std::vector<Key> keys_;
  std::vector<uint32_t> units_;
  std::string replacements_;
};

inline std::string character_map(const std::map<std::string, std::string>& map) {
  return CharacterMapBuilder(map).bytes();
}

}  // namespace halogen::text::testing
