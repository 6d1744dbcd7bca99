#include "core/text/sentence_piece_encoder.h"

#include <algorithm>
#include <functional>
#include <unordered_set>
#include <utility>

#include "core/text/space_words.h"
#include "core/text/token_pieces.h"
#include "core/text/utf8.h"
#include "core/text/vocabulary_merges.h"

namespace halogen::text {

namespace {

// Other types are never the result of merging: they are found as a whole, or not in text at all.
bool is_mergeable(const Vocabulary& vocabulary, size_t id) {
  const auto type = static_cast<TokenType>(vocabulary.types[id]);
  return type == TokenType::kNormal || type == TokenType::kUnused || type == TokenType::kUndefined;
}

// Calls each(character) for the characters of a text.
template <typename Each>
void for_each_character(std::string_view text, const Each& each) {
  while (!text.empty()) {
    const std::string_view character = first_character(text);
    each(character);
    text.remove_prefix(character.size());
  }
}

// The fragment with U+2581 for each space, and one before it if wanted.
std::string escaped(std::string_view fragment, bool prefix) {
  std::string text(prefix ? kSentencePieceSpace : "");
  text.reserve(fragment.size() + fragment.size() / 2);
  while (true) {
    const size_t space = fragment.find(' ');
    text.append(fragment.substr(0, space));
    if (space == std::string_view::npos) return text;
    text.append(kSentencePieceSpace);
    fragment.remove_prefix(space + 1);
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

}  // namespace

std::unique_ptr<FragmentEncoder> SentencePieceEncoder::create(const Vocabulary& vocabulary) {
  return std::unique_ptr<FragmentEncoder>(new SentencePieceEncoder(vocabulary));
}

SentencePieceEncoder::SentencePieceEncoder(const Vocabulary& vocabulary)
    : symbols_(symbol_texts(vocabulary)),
      first_extra_symbol_(static_cast<TokenId>(vocabulary.tokens.size())),
      known_words_(vocabulary.tokens.size()),
      byte_tokens_(byte_tokens(vocabulary)),
      unknown_(vocabulary.unk),
      prefix_(vocabulary.space_prefix.value_or(SpacePrefix::kEveryFragment)),
      words_start_with_space_(true) {
  for (size_t i = 0; i < ascii_symbols_.size(); ++i) {
    const char character = static_cast<char>(i);
    ascii_symbols_[i] = symbols_.find({&character, 1});
  }
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    if (is_mergeable(vocabulary, id) && crosses_words(vocabulary.tokens[id])) {
      words_start_with_space_ = false;
    }
  }
  const bool listed = tokenizer_kind(vocabulary) == TokenizerKind::kCharacterPairs;
  merges_ = listed ? vocabulary_merges(vocabulary, symbols_) : merges_by_score(vocabulary);
}

// Every way to cut a token in two symbols is a merge of the token's rank.
MergeTable SentencePieceEncoder::merges_by_score(const Vocabulary& vocabulary) const {
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
    size_t cut = 0;
    for_each_character(text, [&](std::string_view character) {
      if (cut > 0) {
        const TokenId left = symbols_.find(text.substr(0, cut));
        const TokenId right = left == kNoToken ? kNoToken : symbols_.find(text.substr(cut));
        if (right != kNoToken) {
          found.push_back({left, right, {ranks[id], static_cast<TokenId>(id)}});
        }
      }
      cut += character.size();
    });
  }
  MergeTable table(found.size());
  for (const Found& entry : found) table.add(entry.left, entry.right, entry.merge);
  return table;
}

Status SentencePieceEncoder::encode(std::string_view fragment, bool text_start,
                                    std::vector<TokenId>& out) const {
  const std::string text = escaped(fragment, wants_prefix(fragment, text_start));
  Merger merger(merges_);
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = words_start_with_space_ ? space_word_end(text, begin) : text.size();
    encode_word(std::string_view(text).substr(begin, end - begin), merger, out);
    begin = end;
  }
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

void SentencePieceEncoder::encode_word(std::string_view word, Merger& merger,
                                       std::vector<TokenId>& out) const {
  const TokenId whole = symbols_.find(word);
  if (is_token(whole) && known_words_.is_whole(whole)) {
    out.push_back(whole);
    return;
  }
  merger.begin();
  for_each_character(word, [&](std::string_view character) { merger.push(symbol_of(character)); });
  // The characters are read again rather than stored: one that was not merged lies at the place
  // where its symbol was pushed.
  size_t place = 0;
  uint32_t number = 0;
  merger.merge([&](TokenId id, uint32_t first) {
    for (; number < first; ++number) place += first_character(word.substr(place)).size();
    if (!is_token(id)) {
      append_bytes(first_character(word.substr(place)), out);
      return;
    }
    out.push_back(id);
    if (id == whole) known_words_.remember(id);
  });
}

TokenId SentencePieceEncoder::symbol_of(std::string_view character) const {
  const auto first = static_cast<uint8_t>(character[0]);
  return first < ascii_symbols_.size() ? ascii_symbols_[first] : symbols_.find(character);
}

void SentencePieceEncoder::append_bytes(std::string_view character,
                                        std::vector<TokenId>& out) const {
  for (const char byte : character) {
    TokenId token = byte_tokens_[static_cast<uint8_t>(byte)];
    if (token == kNoToken) token = unknown_;
    if (token != kNoToken) out.push_back(token);
  }
}

}  // namespace halogen::text
