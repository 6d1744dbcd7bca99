#include "core/text/tokenizer.h"

#include <algorithm>
#include <utility>

#include "core/text/byte_pair_encoder.h"
#include "core/text/sentence_piece_encoder.h"
#include "core/text/token_pieces.h"
#include "core/text/unigram_encoder.h"
#include "core/text/word_piece_encoder.h"

namespace halogen::text {

namespace {

constexpr size_t kBytesPerToken = 3;  // of prose, on the low side
constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";

std::vector<std::string_view> views_of(const std::vector<std::string>& strings) {
  return {strings.begin(), strings.end()};
}

Result<std::unique_ptr<FragmentEncoder>> make_encoder(const Vocabulary& vocabulary,
                                                      const std::vector<std::string_view>& pieces) {
  switch (tokenizer_kind(vocabulary)) {
    case TokenizerKind::kBytePairs:
      return BytePairEncoder::create(vocabulary, pieces);
    case TokenizerKind::kUnigram:
      return UnigramEncoder::create(vocabulary);
    case TokenizerKind::kWordPiece:
      return WordPieceEncoder::create(vocabulary);
    case TokenizerKind::kCharacterPairs:
    case TokenizerKind::kSentencePiece:
      break;
  }
  return SentencePieceEncoder::create(vocabulary);
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> Tokenizer::create(Vocabulary vocabulary) {
  if (Status s = complete_vocabulary(vocabulary); !s) return s.error();
  std::unique_ptr<Tokenizer> tokenizer(new Tokenizer(std::move(vocabulary)));
  auto encoder = make_encoder(tokenizer->vocabulary_, tokenizer->piece_views_);
  if (!encoder) return encoder.error();
  tokenizer->encoder_ = std::move(*encoder);
  return tokenizer;
}

Tokenizer::Tokenizer(Vocabulary vocabulary)
    : vocabulary_(std::move(vocabulary)),
      pieces_(token_pieces(vocabulary_)),
      piece_views_(views_of(pieces_)),
      ids_(views_of(vocabulary_.tokens)) {
  for (const std::string& piece : pieces_)
    most_bytes_per_token_ = std::max(most_bytes_per_token_, piece.size());
  const TokenizerKind kind = tokenizer_kind(vocabulary_);
  if (kind == TokenizerKind::kUnigram || kind == TokenizerKind::kWordPiece)
    most_bytes_per_token_ = SIZE_MAX;
  find_special_tokens();
}

void Tokenizer::find_special_tokens() {
  for (size_t i = 0; i < size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    if (pieces_[i].empty()) continue;
    if (type(id) == TokenType::kUserDefined) user_defined_.add(pieces_[i], id);
    if (type(id) == TokenType::kUserDefined || is_special(id)) all_special_.add(pieces_[i], id);
  }
}

TokenType Tokenizer::type(TokenId id) const {
  return static_cast<TokenType>(vocabulary_.types[static_cast<size_t>(id)]);
}

uint8_t Tokenizer::strip_flags(TokenId id) const {
  return vocabulary_.strip_flags.empty() ? uint8_t{0}
                                         : vocabulary_.strip_flags[static_cast<size_t>(id)];
}

bool Tokenizer::is_special(TokenId id) const {
  return has(id) && (type(id) == TokenType::kControl || type(id) == TokenType::kUnknown);
}

bool Tokenizer::is_eog(TokenId id) const {
  return std::ranges::binary_search(vocabulary_.end_of_generation, id);
}

std::string_view Tokenizer::piece(TokenId id) const {
  return has(id) ? piece_views_[static_cast<size_t>(id)] : std::string_view{};
}

Status Tokenizer::encode(std::string_view text, EncodeOptions options,
                         std::vector<TokenId>& out) const {
  if (text.size() >= kTextLimit) {
    return fail(HALOGEN_E_INVALID, "a text of " + std::to_string(text.size()) +
                                       " bytes is too long to tokenise; the limit is 1 GiB");
  }
  const size_t size_before = out.size();
  out.reserve(size_before + text.size() / kBytesPerToken + 2);
  if (options.add_special && vocabulary_.add_bos == true) out.push_back(vocabulary_.bos);
  const SpecialTokens& special = options.parse_special ? all_special_ : user_defined_;
  if (Status s = encode_fragments(text, special, out); !s) {
    out.resize(size_before);
    return s;
  }
  if (options.add_special && vocabulary_.add_eos == true) out.push_back(vocabulary_.eos);
  return {};
}

Status Tokenizer::encode_pair(std::string_view first, std::string_view second, bool parse_special,
                              std::vector<TokenId>& out) const {
  const EncodeOptions options = {.add_special = true, .parse_special = parse_special};
  const size_t size_before = out.size();
  if (Status s = encode(first, options, out); !s) return s;
  if (vocabulary_.add_sep == true) out.push_back(vocabulary_.sep);
  const size_t second_begin = out.size();
  if (Status s = encode(second, options, out); !s) {
    out.resize(size_before);
    return s;
  }
  if (vocabulary_.add_bos == true)
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(second_begin));
  return {};
}

Status Tokenizer::encode_fragments(std::string_view text, const SpecialTokens& special,
                                   std::vector<TokenId>& out) const {
  size_t begin = 0;
  while (begin < text.size()) {
    const SpecialMatch match = special.find(text, begin);
    const bool found = match.id != kNoToken;
    std::string_view fragment = text.substr(begin, found ? match.begin - begin : text.size());
    const uint8_t strip = found ? strip_flags(match.id) : uint8_t{0};
    if ((strip & kStripLeft) != 0) {
      fragment = fragment.substr(0, fragment.find_last_not_of(kWhiteSpace) + 1);
    }
    if (!fragment.empty()) {
      if (Status s = encoder_->encode(fragment, begin == 0, out); !s) return s;
    }
    if (!found) return {};
    out.push_back(match.id);
    begin = match.begin + match.length;
    if ((strip & kStripRight) != 0) {
      begin = std::min(text.find_first_not_of(kWhiteSpace, begin), text.size());
    }
  }
  return {};
}

std::string Tokenizer::decode(std::span<const TokenId> ids, bool skip_special) const {
  const bool word_piece = tokenizer_kind(vocabulary_) == TokenizerKind::kWordPiece;
  std::string text;
  for (const TokenId id : ids) {
    if (skip_special && is_special(id)) continue;
    if (word_piece && is_special(id)) text.push_back(' ');
    text.append(piece(id));
  }
  const bool prefixed = vocabulary_.space_prefix != SpacePrefix::kNever;
  if (prefixed && text.starts_with(' ')) text.erase(0, 1);
  return text;
}

}  // namespace halogen::text
