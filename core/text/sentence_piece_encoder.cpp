#include "core/text/sentence_piece_encoder.h"

#include <algorithm>
#include <functional>
#include <unordered_set>
#include <utility>

#include "core/text/token_pieces.h"
#include "core/text/utf8.h"

namespace halogen::text {

namespace {

// Other types are never the result of merging: they are found as a whole, or not in text at all.
bool is_mergeable(const Vocabulary& vocabulary, size_t id) {
  const auto type = static_cast<TokenType>(vocabulary.types[id]);
  return type == TokenType::kNormal || type == TokenType::kUnused || type == TokenType::kUndefined;
}

// Calls each(character) for the characters of a token's text; a broken one counts byte by byte.
template <typename Each>
void for_each_character(std::string_view text, const Each& each) {
  while (!text.empty()) {
    const Utf8Character character = read_character(text);
    const uint32_t length = character.state == Utf8::kValid ? character.length : 1;
    each(text.substr(0, length));
    text.remove_prefix(length);
  }
}

// The mergeable tokens' texts by id (others empty), then the characters that occur in them without
// being tokens.
std::vector<std::string_view> symbol_texts(const Vocabulary& vocabulary) {
  std::vector<std::string_view> texts(vocabulary.tokens.size());
  std::unordered_set<std::string_view> known;
  for (size_t id = 0; id < texts.size(); ++id) {
    if (!is_mergeable(vocabulary, id)) continue;
    texts[id] = vocabulary.tokens[id];
    known.insert(texts[id]);
  }
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    for_each_character(texts[id], [&](std::string_view character) {
      if (known.insert(character).second) texts.push_back(character);
    });
  }
  return texts;
}

// The rank of each token's score: 0 for the best; equal scores share a rank.
std::vector<uint32_t> ranks_of(const std::vector<float>& scores) {
  std::vector<float> order = scores;
  std::ranges::sort(order, std::greater<>());
  const auto repeated = std::ranges::unique(order);
  order.erase(repeated.begin(), repeated.end());
  std::vector<uint32_t> ranks(scores.size());
  for (size_t id = 0; id < scores.size(); ++id) {
    const auto place = std::ranges::lower_bound(order, scores[id], std::greater<>());
    ranks[id] = static_cast<uint32_t>(place - order.begin());
  }
  return ranks;
}

bool has_inner_space(std::string_view text) {
  const size_t begin = text.find_first_not_of(kSentencePieceSpace);
  return begin != std::string_view::npos &&
         text.substr(begin).find(kSentencePieceSpace) != std::string_view::npos;
}

}  // namespace

// The word being put together: its characters, and the merger that holds their symbols.
struct SentencePieceEncoder::Word {
  Merger merger;
  std::vector<std::string_view> characters;
  bool ends_with_space = false;
};

std::unique_ptr<FragmentEncoder> SentencePieceEncoder::create(const Vocabulary& vocabulary) {
  return std::unique_ptr<FragmentEncoder>(new SentencePieceEncoder(vocabulary));
}

SentencePieceEncoder::SentencePieceEncoder(const Vocabulary& vocabulary)
    : symbols_(symbol_texts(vocabulary)),
      first_extra_symbol_(static_cast<TokenId>(vocabulary.tokens.size())),
      space_(symbols_.find(kSentencePieceSpace)),
      unknown_(vocabulary.unk),
      prefix_(*vocabulary.space_prefix),
      words_start_with_space_(true) {
  find_byte_tokens(vocabulary);
  find_merges(vocabulary);
}

void SentencePieceEncoder::find_byte_tokens(const Vocabulary& vocabulary) {
  byte_tokens_.fill(kNoToken);
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    if (static_cast<TokenType>(vocabulary.types[id]) != TokenType::kByte) continue;
    if (const auto byte = byte_of_token(vocabulary.tokens[id])) {
      byte_tokens_[*byte] = static_cast<TokenId>(id);
    }
  }
}

// Every way to cut a token in two symbols is a merge of the token's rank.
void SentencePieceEncoder::find_merges(const Vocabulary& vocabulary) {
  struct Found {
    TokenId left;
    TokenId right;
    Merge merge;
  };
  std::vector<Found> found;
  const std::vector<uint32_t> ranks = ranks_of(vocabulary.scores);
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    if (!is_mergeable(vocabulary, id)) continue;
    const std::string_view text = vocabulary.tokens[id];
    if (has_inner_space(text)) words_start_with_space_ = false;
    size_t cut = 0;
    for_each_character(text, [&](std::string_view character) {
      if (cut > 0) {
        const TokenId left = symbols_.find(text.substr(0, cut));
        const TokenId right = symbols_.find(text.substr(cut));
        if (left != kNoToken && right != kNoToken) {
          found.push_back({left, right, {ranks[id], static_cast<TokenId>(id)}});
        }
      }
      cut += character.size();
    });
  }
  merges_ = MergeTable(found.size());
  for (const Found& entry : found) merges_.add(entry.left, entry.right, entry.merge);
}

Status SentencePieceEncoder::encode(std::string_view fragment, bool text_start,
                                    std::vector<TokenId>& out) const {
  Word word{Merger(merges_), {}, false};
  if (wants_prefix(fragment, text_start)) push_character(kSentencePieceSpace, word, out);
  for_each_character(fragment, [&](std::string_view character) {
    push_character(character == " " ? kSentencePieceSpace : character, word, out);
  });
  finish(word, out);
  return {};
}

bool SentencePieceEncoder::wants_prefix(std::string_view fragment, bool text_start) const {
  switch (prefix_) {
    case SpacePrefix::kNever:
      return false;
    case SpacePrefix::kEveryFragment:
      return true;
    case SpacePrefix::kTextStart:
      return text_start && !fragment.starts_with(' ') && !fragment.starts_with(kSentencePieceSpace);
  }
  return false;
}

void SentencePieceEncoder::push_character(std::string_view character, Word& word,
                                          std::vector<TokenId>& out) const {
  const bool is_space = character == kSentencePieceSpace;
  // Merges cannot cross here, and short words are far cheaper than one as long as the text.
  if (is_space && !word.ends_with_space && words_start_with_space_) finish(word, out);
  word.ends_with_space = is_space;
  word.characters.push_back(character);
  word.merger.push(is_space ? space_ : symbols_.find(character));
}

void SentencePieceEncoder::finish(Word& word, std::vector<TokenId>& out) const {
  word.merger.merge([&](TokenId id, uint32_t first) {
    if (id != kNoToken && id < first_extra_symbol_) {
      out.push_back(id);
      return;
    }
    for (const char byte : word.characters[first]) {
      TokenId token = byte_tokens_[static_cast<uint8_t>(byte)];
      if (token == kNoToken) token = unknown_;
      if (token != kNoToken) out.push_back(token);
    }
  });
  word.merger.clear();
  word.characters.clear();
}

}  // namespace halogen::text
