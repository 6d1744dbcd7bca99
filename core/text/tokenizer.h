// Text to token ids and back, for one vocabulary. Immutable once made: one Tokenizer serves every
// thread.
//
// encode() takes any bytes. What is not valid UTF-8 is not repaired: byte-level and SentencePiece
// BPE vocabularies both have a token for every byte, so it is encoded as it is and decodes to the
// same bytes (form C of vocabularies that normalise changes valid text only). Unigram and WordPiece
// vocabularies lose what they have no token for, broken UTF-8 included.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/text/fragment_encoder.h"
#include "core/text/special_tokens.h"
#include "core/text/token_index.h"
#include "core/text/vocabulary.h"

namespace halogen::text {

struct EncodeOptions {
  bool add_special = false;    // BOS and EOS, where the vocabulary says so
  bool parse_special = false;  // control tokens written out in the text become those tokens;
                               // user-defined ones always do
};

class Tokenizer {
 public:
  // [any] Completes the vocabulary (vocabulary.h) and builds the tables; takes up to a few hundred
  // milliseconds for a large one. Errors are complete_vocabulary()'s, and HALOGEN_E_INVALID for a
  // split pattern that does not compile or a damaged character map.
  static Result<std::unique_ptr<Tokenizer>> create(Vocabulary vocabulary);

  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  // [any] Appends the ids of `text` to `out`. Time is n log n in the length at worst, and linear
  // for text that has words. Fails with HALOGEN_E_INVALID for text of 1 GiB or more, and with
  // HALOGEN_E_INTERNAL when the regular expressions give up; `out` is then as it was.
  Status encode(std::string_view text, EncodeOptions options, std::vector<TokenId>& out) const;

  // [any] Appends the ids of two texts that a model compares: with BOS before the first, EOS behind
  // each, and another separator between them where the vocabulary says so. Fails as encode() does.
  Status encode_pair(std::string_view first, std::string_view second, bool parse_special,
                     std::vector<TokenId>& out) const;

  // [any] The exact bytes that a token adds to a text, perhaps half a character; a special token's
  // is its name. Empty for an id that is none. Lives as long as the tokenizer.
  std::string_view piece(TokenId id) const;

  // [any] The bytes of a whole text's tokens, which may be invalid UTF-8 (utf8.h repairs them). The
  // space that encode() puts before a text is taken off again.
  std::string decode(std::span<const TokenId> ids, bool skip_special = true) const;

  // [any] Control and unknown tokens: structure rather than text. False for an id that is none.
  bool is_special(TokenId id) const;

  // [any] True when generation stops at this token.
  bool is_eog(TokenId id) const;

  // [any] The token of exactly this text, as the vocabulary writes it ("Ġthe", "<|im_end|>"), or
  // kNoToken.
  TokenId id_of(std::string_view text) const { return ids_.find(text); }

  // [any] The completed vocabulary.
  const Vocabulary& vocabulary() const { return vocabulary_; }

  // [any] The most bytes of text that one token can stand for; at least 1. Unigram and WordPiece
  // vocabularies drop characters, so that theirs has no bound (SIZE_MAX).
  size_t most_bytes_per_token() const { return most_bytes_per_token_; }

  // [any] Number of ids. A model may have more rows than this; those have no text.
  size_t size() const { return vocabulary_.tokens.size(); }

 private:
  explicit Tokenizer(Vocabulary vocabulary);

  void find_special_tokens();
  bool has(TokenId id) const { return id >= 0 && static_cast<size_t>(id) < size(); }
  TokenType type(TokenId id) const;
  uint8_t strip_flags(TokenId id) const;
  Status encode_fragments(std::string_view text, const SpecialTokens& special,
                          std::vector<TokenId>& out) const;

  Vocabulary vocabulary_;
  std::vector<std::string> pieces_;
  std::vector<std::string_view> piece_views_;
  size_t most_bytes_per_token_ = 1;
  TokenIndex ids_;
  SpecialTokens user_defined_;  // found in every text
  SpecialTokens all_special_;   // those, and control and unknown tokens
  std::unique_ptr<FragmentEncoder> encoder_;
};

}  // namespace halogen::text
