// What each token means as bytes, worked out once, so that decoding is a look-up.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/vocabulary.h"

namespace halogen::text {

inline constexpr std::string_view kSentencePieceSpace = "\xE2\x96\x81";  // U+2581

// [any] The byte that a SentencePiece byte token ("<0x0A>") stands for, or nothing for other texts.
std::optional<uint8_t> byte_of_token(std::string_view text);

// [any] `text` with every U+2581 as the space that it stands for.
std::string with_plain_spaces(std::string_view text);

// [any] The byte tokens of a completed vocabulary by their bytes, kNoToken where it has none.
std::array<TokenId, 256> byte_tokens(const Vocabulary& vocabulary);

// [any] The bytes of every token of a completed vocabulary. Special tokens are their own text; a
// token of a byte-level vocabulary that does not keep to the alphabet also is. A WordPiece token
// that begins a word has a space in front, except punctuation that is written close to the word
// before it.
std::vector<std::string> token_pieces(const Vocabulary& vocabulary);

}  // namespace halogen::text
