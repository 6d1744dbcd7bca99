// BPE of characters. A fragment starts as its characters, with U+2581 for each space. In
// SentencePiece's form ("llama" vocabularies) neighbours whose joined text is a token are joined,
// best score first; in the other ("gemma4") the vocabulary lists the merges. A character that is no
// token becomes its bytes. Source: Kudo and Richardson 2018 (arXiv 1808.06226).
#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "core/text/fragment_encoder.h"
#include "core/text/known_words.h"
#include "core/text/merge.h"
#include "core/text/token_index.h"

namespace halogen::text {

class SentencePieceEncoder final : public FragmentEncoder {
 public:
  // From a completed vocabulary, whose tokens are borrowed for the encoder's life.
  static std::unique_ptr<FragmentEncoder> create(const Vocabulary& vocabulary);

  // A byte that has no byte token becomes the unknown token, or nothing without one. Invalid UTF-8
  // is encoded byte for byte.
  Status encode(std::string_view fragment, bool text_start,
                std::vector<TokenId>& out) const override;

 private:
  explicit SentencePieceEncoder(const Vocabulary& vocabulary);

  MergeTable merges_by_score(const Vocabulary& vocabulary) const;

  bool wants_prefix(std::string_view fragment, bool text_start) const;
  void encode_word(std::string_view word, Merger& merger, std::vector<TokenId>& out) const;
  TokenId symbol_of(std::string_view character) const;
  bool is_token(TokenId symbol) const { return symbol >= 0 && symbol < first_extra_symbol_; }
  void append_bytes(std::string_view character, std::vector<TokenId>& out) const;

  // Symbols are the mergeable tokens by id, and from first_extra_symbol_ on the characters that are
  // no token but occur in one, so that merges can be looked up by pairs of numbers.
  TokenIndex symbols_;
  TokenId first_extra_symbol_;
  std::array<TokenId, 128> ascii_symbols_{};
  KnownWords known_words_;
  MergeTable merges_;
  std::array<TokenId, 256> byte_tokens_;
  TokenId unknown_;
  SpacePrefix prefix_;
  bool words_start_with_space_;  // no token has a space behind another character
};

}  // namespace halogen::text
