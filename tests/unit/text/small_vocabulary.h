// Test support: vocabularies small enough to work out by hand.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/text/tokenizer.h"
#include "core/text/utf8.h"

namespace halogen::text::testing {

// Bytes as a byte-level vocabulary writes them.
inline std::string in_byte_alphabet(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    const bool itself = (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
    // The others in order: 00..20, 7F..A0, AD.
    const uint32_t rank = byte <= 0x20 ? byte : byte <= 0xA0 ? byte - 0x7FU + 0x21U : 67U;
    append_character(itself ? byte : 0x100U + rank, text);
  }
  return text;
}

inline void add_token(Vocabulary& vocabulary, std::string text, TokenType type, float score = 0) {
  vocabulary.tokens.push_back(std::move(text));
  vocabulary.types.push_back(static_cast<int32_t>(type));
  if (vocabulary.model == "llama" || vocabulary.model == "t5") vocabulary.scores.push_back(score);
}

// Token i is byte i; then the results of the merges (pairs of plain bytes) in order, from 256 on.
inline Vocabulary byte_level_vocabulary(
    const std::vector<std::pair<std::string, std::string>>& merges = {}) {
  Vocabulary vocabulary;
  vocabulary.model = "gpt2";
  vocabulary.pre = "gpt-2";
  for (int byte = 0; byte < 256; ++byte) {
    const char text = static_cast<char>(byte);
    add_token(vocabulary, in_byte_alphabet({&text, 1}), TokenType::kNormal);
  }
  for (const auto& [left, right] : merges) {
    add_token(vocabulary, in_byte_alphabet(left + right), TokenType::kNormal);
    vocabulary.merges.push_back(in_byte_alphabet(left) + " " + in_byte_alphabet(right));
  }
  return vocabulary;
}

// 0 <unk>, 1 <s>, 2 </s>, 3..258 the bytes, then the pieces with their scores.
inline Vocabulary sentence_piece_vocabulary(
    const std::vector<std::pair<std::string, float>>& pieces) {
  Vocabulary vocabulary;
  vocabulary.model = "llama";
  add_token(vocabulary, "<unk>", TokenType::kUnknown);
  add_token(vocabulary, "<s>", TokenType::kControl);
  add_token(vocabulary, "</s>", TokenType::kControl);
  for (int byte = 0; byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof(text), "<0x%02X>", static_cast<unsigned>(byte));
    add_token(vocabulary, text, TokenType::kByte);
  }
  for (const auto& [text, score] : pieces) add_token(vocabulary, text, TokenType::kNormal, score);
  return vocabulary;
}

inline std::unique_ptr<Tokenizer> make_tokenizer(Vocabulary vocabulary) {
  auto tokenizer = Tokenizer::create(std::move(vocabulary));
  EXPECT_TRUE(tokenizer) << tokenizer.error().message;
  return std::move(*tokenizer);
}

inline std::vector<TokenId> encode(const Tokenizer& tokenizer, std::string_view text,
                                   EncodeOptions options = {}) {
  std::vector<TokenId> ids;
  const Status status = tokenizer.encode(text, options, ids);
  EXPECT_TRUE(status.ok());
  return ids;
}

// The texts of the tokens, which are easier to read in a test than ids.
inline std::vector<std::string> encode_to_texts(const Tokenizer& tokenizer, std::string_view text,
                                                EncodeOptions options = {}) {
  std::vector<std::string> texts;
  for (const TokenId id : encode(tokenizer, text, options)) {
    texts.push_back(tokenizer.vocabulary().tokens[static_cast<size_t>(id)]);
  }
  return texts;
}

}  // namespace halogen::text::testing
