#include "core/text/token_pieces.h"

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

std::string sentence_piece_piece(const std::string& text, TokenType type) {
  if (type == TokenType::kControl || type == TokenType::kUnknown) return text;
  if (type == TokenType::kByte) {
    if (const auto byte = byte_of_token(text)) return {static_cast<char>(*byte)};
  }
  return with_plain_spaces(text);
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

std::vector<std::string> token_pieces(const Vocabulary& vocabulary) {
  const bool byte_level = vocabulary.model == "gpt2";
  std::vector<std::string> pieces;
  pieces.reserve(vocabulary.tokens.size());
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const auto type = static_cast<TokenType>(vocabulary.types[id]);
    pieces.push_back(byte_level ? byte_level_piece(vocabulary.tokens[id], type)
                                : sentence_piece_piece(vocabulary.tokens[id], type));
  }
  return pieces;
}

}  // namespace halogen::text
