// The words of SentencePiece text, where U+2581 stands for a space and belongs to the word behind
// it. Most vocabularies have no token with a space behind another character; then no token crosses
// from one word to the next, and each word can be encoded by itself.
#pragma once

#include <algorithm>
#include <string_view>

#include "core/text/token_pieces.h"

namespace halogen::text {

// [any] Where the word that begins at `begin` ends: before the first U+2581 that follows another
// character.
inline size_t space_word_end(std::string_view text, size_t begin) {
  while (text.substr(begin).starts_with(kSentencePieceSpace)) begin += kSentencePieceSpace.size();
  return std::min(text.find(kSentencePieceSpace, begin), text.size());
}

// [any] True when a word ends within `token`.
inline bool crosses_words(std::string_view token) {
  return space_word_end(token, 0) != token.size();
}

}  // namespace halogen::text
