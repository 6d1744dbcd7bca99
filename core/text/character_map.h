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

  CharacterMap() = default;

  void find_plain_characters();
  size_t plain_prefix(std::string_view text) const;
  Position start() const;
  Position step(Position from, uint8_t byte) const;
  Position find_key(std::string_view text) const;
  bool append_replacement(std::string_view text, std::string& out) const;
  void append_cluster(std::string_view cluster, std::string& out) const;

  std::vector<uint32_t> units_;
  std::string replacements_;
  // By code point: characters of the first two planes that stay as they are, and that begin and end
  // a grapheme cluster beside each other. Nearly all of a text is.
  std::vector<bool> plain_;
  std::array<bool, 128> plain_ascii_{};  // the first of them
  std::array<std::string, 128> ascii_;   // what becomes of ASCII that stands alone
};

}  // namespace halogen::text
