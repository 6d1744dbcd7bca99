// The normaliser that SentencePiece compiles into a model ("precompiled charsmap"): a map from byte
// strings to their replacements. The file holds its size, a Darts double array (Yata's darts-clone,
// 32-bit units) and the replacements, each ended by a zero byte.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace halogen::text {

class CharacterMap {
 public:
  // Maps nothing.
  CharacterMap() = default;

  // From the bytes of a file; none at all is a map of nothing. HALOGEN_E_INVALID says what is
  // wrong.
  static Result<CharacterMap> parse(std::string_view bytes);

  // [any] `text` with everything replaced, in the way of the tokenizers library, by which the
  // models are used: a grapheme cluster of fewer than six bytes becomes what the shortest key that
  // it begins with maps to, and of other clusters each character by itself. A broken character
  // becomes U+FFFD. Fails with HALOGEN_E_INVALID when the result grows past 1 GiB.
  Result<std::string> apply(std::string_view text) const;

 private:
  struct Position {
    bool exists = false;
    bool is_key = false;
    uint32_t node = 0;         // where its children are counted from
    uint32_t replacement = 0;  // of a key: where it begins in replacements_
  };

  void find_plain_bytes();
  Position start() const;
  Position step(Position from, uint8_t byte) const;
  bool append_replacement(std::string_view text, std::string& out) const;
  void append_cluster(std::string_view cluster, std::string& out) const;

  std::vector<uint32_t> units_;
  std::string replacements_;
  std::array<bool, 128> alone_{};  // ASCII that stays as it is when more ASCII, or nothing, follows
};

}  // namespace halogen::text
