// WordPiece ("bert" vocabularies): text is cleaned and cut at spaces and around punctuation and
// ideographs, and each word is taken apart from its left end, always by the longest token that
// fits. As in GGUF files, a token that begins a word starts with U+2581 and one that continues it
// is plain
// ("##ing" of the original is "ing"). Source: Devlin et al. 2018 (arXiv 1810.04805).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/fragment_encoder.h"
#include "core/text/trie.h"

namespace halogen::text {

class WordPieceEncoder final : public FragmentEncoder {
 public:
  // From a completed vocabulary.
  static std::unique_ptr<FragmentEncoder> create(const Vocabulary& vocabulary);

  // A word that cannot be taken apart whole, or has more than 100 characters, becomes the unknown
  // token, or nothing without one. Bytes that are not valid UTF-8 are left out, as control
  // characters are.
  Status encode(std::string_view fragment, bool text_start,
                std::vector<TokenId>& out) const override;

 private:
  // The word that is being read, without its U+2581.
  struct Word {
    std::string text;
    size_t characters = 0;
  };

  explicit WordPieceEncoder(const Vocabulary& vocabulary);

  void read_ascii(std::string_view text, Word& word, std::vector<TokenId>& out) const;
  void read_unicode(std::string_view text, Word& word, std::vector<TokenId>& out) const;
  void read_character(uint32_t character, Word& word, std::vector<TokenId>& out) const;
  void end_word(Word& word, std::vector<TokenId>& out) const;
  bool append_pieces(std::string_view word, std::vector<TokenId>& out) const;

  Trie tokens_;
  Trie::Node word_start_;  // where U+2581 leads to, or Trie::kNone
  TokenId unknown_;
  bool lowercase_;
};

}  // namespace halogen::text
