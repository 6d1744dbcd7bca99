#include "core/text/token_pieces.h"

#include <algorithm>
#include <charconv>

#include "core/text/byte_level.h"

namespace halogen::text {

namespace {

std::string byte_level_piece(const std::string& text, TokenType type) {
  const bool means_itself =
      type == TokenType::kControl || type == TokenType::kUserDefined || type == TokenType::kUnknown;
  if (means_itself) return text;
  return byte_level_bytes(text).value_or(text);
}

bool is_special(TokenType type) {
  return type == TokenType::kControl || type == TokenType::kUnknown;
}

// Files of "gemma4" vocabularies may not say which tokens are bytes.
std::optional<uint8_t> byte_of(const Vocabulary& vocabulary, size_t id) {
  const auto type = static_cast<TokenType>(vocabulary.types[id]);
  const bool maybe =
      type == TokenType::kByte ||
      (type == TokenType::kNormal && tokenizer_kind(vocabulary) == TokenizerKind::kCharacterPairs);
  return maybe ? byte_of_token(vocabulary.tokens[id]) : std::nullopt;
}

std::string sentence_piece_piece(const Vocabulary& vocabulary, size_t id) {
  const std::string& text = vocabulary.tokens[id];
  if (is_special(static_cast<TokenType>(vocabulary.types[id]))) return text;
  if (const auto byte = byte_of(vocabulary, id)) return {static_cast<char>(*byte)};
  return with_plain_spaces(text);
}

// How BERT's own decoder tidies up.
std::string word_piece_piece(const std::string& text, TokenType type) {
  constexpr std::string_view kClose[] = {" .",  " ?",  " !",   " ,",  " n't",
                                         " 'm", " 's", " 've", " 're"};
  if (is_special(type)) return text;
  std::string piece = with_plain_spaces(text);
  const auto begins = [&](std::string_view close) { return piece.starts_with(close); };
  if (std::ranges::any_of(kClose, begins)) piece.erase(0, 1);
  return piece;
}

}  // namespace

std::optional<uint8_t> byte_of_token(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text.back() != '>') return {};
  uint8_t byte = 0;
  const char* const end = text.data() + 5;
  const auto [parsed_to, error] = std::from_chars(text.data() + 3, end, byte, 16);
  if (error != std::errc() || parsed_to != end) return {};
  return byte;
}

std::string with_plain_spaces(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (true) {
    const size_t space = text.find(kSentencePieceSpace);
    out.append(text.substr(0, space));
    if (space == std::string_view::npos) return out;
    out.push_back(' ');
    text.remove_prefix(space + kSentencePieceSpace.size());
  }
}

std::array<TokenId, 256> byte_tokens(const Vocabulary& vocabulary) {
  std::array<TokenId, 256> tokens{};
  tokens.fill(kNoToken);
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    if (const auto byte = byte_of(vocabulary, id)) tokens[*byte] = static_cast<TokenId>(id);
  }
  return tokens;
}

std::vector<std::string> token_pieces(const Vocabulary& vocabulary) {
  const TokenizerKind kind = tokenizer_kind(vocabulary);
  std::vector<std::string> pieces;
  pieces.reserve(vocabulary.tokens.size());
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const auto type = static_cast<TokenType>(vocabulary.types[id]);
    if (kind == TokenizerKind::kBytePairs) {
      pieces.push_back(byte_level_piece(vocabulary.tokens[id], type));
    } else if (kind == TokenizerKind::kWordPiece) {
      pieces.push_back(word_piece_piece(vocabulary.tokens[id], type));
    } else {
      pieces.push_back(sentence_piece_piece(vocabulary, id));
    }
  }
  return pieces;
}

}  // namespace halogen::text
