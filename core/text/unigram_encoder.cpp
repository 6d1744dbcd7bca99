#include "core/text/unigram_encoder.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/text/space_words.h"
#include "core/text/utf8.h"

namespace halogen::text {

namespace {

constexpr double kUnknownPenalty = 10;  // SentencePiece's: below the worst token
constexpr uint32_t kChunk = 1024;       // bytes of a word, to keep the steps within fast memory
constexpr double kUnreached = -std::numeric_limits<double>::infinity();

// The first bytes of white space, of U+2581 and of few other characters.
bool may_be_space(char first) {
  const auto byte = static_cast<uint8_t>(first);
  return byte <= 0x20 || byte == 0xC2 || (byte >= 0xE1 && byte <= 0xE3);
}

// The length of the white space (Unicode's White_Space) character that `text` begins with, or 0.
size_t white_space_length(std::string_view text) {
  if (text[0] == ' ') return 1;
  if (!may_be_space(text[0])) return 0;
  const Utf8Character character = read_character(text);
  const uint32_t c = character.code_point;
  const bool space = (c >= '\t' && c <= '\r') || c == 0x85 || c == 0xA0 || c == 0x1680 ||
                     (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
                     c == 0x205F || c == 0x3000;
  return space ? character.length : 0;
}

bool is_findable(const Vocabulary& vocabulary, size_t id) {
  const auto type = static_cast<TokenType>(vocabulary.types[id]);
  return type == TokenType::kNormal || type == TokenType::kUserDefined;
}

std::vector<std::string_view> findable_texts(const Vocabulary& vocabulary) {
  std::vector<std::string_view> texts(vocabulary.tokens.size());
  for (size_t id = 0; id < texts.size(); ++id) {
    if (is_findable(vocabulary, id)) texts[id] = vocabulary.tokens[id];
  }
  return texts;
}

// A user-defined token is preferred to any way of spelling it.
std::vector<float> scores_of(const Vocabulary& vocabulary) {
  std::vector<float> scores = vocabulary.scores;
  for (size_t id = 0; id < scores.size(); ++id) {
    if (static_cast<TokenType>(vocabulary.types[id]) == TokenType::kUserDefined) scores[id] = 0;
  }
  return scores;
}

}  // namespace

Result<std::unique_ptr<FragmentEncoder>> UnigramEncoder::create(const Vocabulary& vocabulary) {
  Result<CharacterMap> map = CharacterMap::parse(vocabulary.character_map);
  if (!map) return map.error();
  return std::unique_ptr<FragmentEncoder>(new UnigramEncoder(vocabulary, std::move(*map)));
}

UnigramEncoder::UnigramEncoder(const Vocabulary& vocabulary, CharacterMap character_map)
    : character_map_(std::move(character_map)),
      tokens_(findable_texts(vocabulary)),
      scores_(scores_of(vocabulary)),
      byte_tokens_(byte_tokens(vocabulary)),
      unknown_(vocabulary.unk),
      prefix_(vocabulary.space_prefix.value_or(SpacePrefix::kEveryFragment)),
      remove_extra_spaces_(vocabulary.remove_extra_spaces.value_or(true)) {
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    if (!is_findable(vocabulary, id)) continue;
    unknown_score_ = std::min(unknown_score_, double{scores_[id]});
    if (crosses_words(vocabulary.tokens[id])) words_start_with_space_ = false;
  }
  unknown_score_ -= kUnknownPenalty;
  has_bytes_ = std::ranges::find(byte_tokens_, kNoToken) == byte_tokens_.end();
}

Status UnigramEncoder::encode(std::string_view fragment, bool text_start,
                              std::vector<TokenId>& out) const {
  Result<std::string> normal = normalized(fragment, text_start);
  if (!normal) return normal.error();
  const std::string_view text = *normal;
  Work work{.recent = RecentWords(text.size(), out), .first = out.size(), .out = out};
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = words_start_with_space_ ? space_word_end(text, begin) : text.size();
    encode_word(text.substr(begin, end - begin), work);
    begin = end;
  }
  return {};
}

// The text with the character map applied, U+2581 for each space and one before it if wanted. If
// the vocabulary says so, all white space counts as spaces, and those at the ends and all but one
// of a run are removed.
Result<std::string> UnigramEncoder::normalized(std::string_view fragment, bool text_start) const {
  Result<std::string> mapped = character_map_.apply(fragment);
  if (!mapped) return mapped.error();
  std::string text;
  text.reserve(mapped->size() + mapped->size() / 4 + kSentencePieceSpace.size());
  bool space_wanted =
      prefix_ == SpacePrefix::kEveryFragment || (prefix_ == SpacePrefix::kTextStart && text_start);
  bool after_space = true;
  for (std::string_view rest = *mapped; !rest.empty();) {
    const size_t space = remove_extra_spaces_ ? white_space_length(rest) : (rest[0] == ' ' ? 1 : 0);
    if (space > 0 && remove_extra_spaces_) {
      space_wanted = space_wanted || !after_space;
      after_space = true;
      rest.remove_prefix(space);
      continue;
    }
    if (space_wanted && !rest.starts_with(kSentencePieceSpace)) text += kSentencePieceSpace;
    space_wanted = after_space = false;
    const auto next = std::ranges::find_if(rest.substr(1), may_be_space);
    const std::string_view piece(rest.begin(), space > 0 ? rest.begin() + 1 : next);
    text += space > 0 ? kSentencePieceSpace : piece;
    rest.remove_prefix(piece.size());
  }
  return text;
}

void UnigramEncoder::encode_word(std::string_view word, Work& work) const {
  // What the word begins with may melt into an unknown token before it; such words are not
  // remembered.
  const bool after_unknown = work.ends_with(unknown_);
  if (!after_unknown && work.recent.append(word)) return;
  const size_t first = work.out.size();
  double score = 0;
  for (std::string_view rest = word; !rest.empty();) {
    const uint32_t end = find_best_steps(rest, score, work.steps);
    append_path(rest.substr(0, end), work);
    score = work.steps[end].score;
    rest.remove_prefix(end);
  }
  if (!after_unknown) work.recent.remember(word, first);
}

// Fills in the best steps up to the word's end, or to the first place past kChunk that no token
// reaches across, which every way through the word must visit; returns that place. Of several best
// ways to a place the one found first stays: with the earliest last token.
uint32_t UnigramEncoder::find_best_steps(std::string_view word, double score,
                                         std::vector<Step>& steps) const {
  steps.assign(std::min<size_t>(word.size(), kChunk) + 1, {kUnreached, 0, kNoToken});
  steps[0].score = score;
  uint32_t furthest = 0;
  for (uint32_t begin = 0; begin < word.size(); ++begin) {
    if (begin >= kChunk && begin == furthest) return begin;
    score = steps[begin].score;
    if (score == kUnreached) continue;
    const auto reach = [&](uint32_t end, double token_score, TokenId id) {
      furthest = std::max(furthest, end);
      if (end >= steps.size()) steps.resize(end + kChunk, {kUnreached, 0, kNoToken});
      if (score + token_score > steps[end].score) steps[end] = {score + token_score, begin, id};
    };
    const uint32_t single_end =
        begin + static_cast<uint32_t>(first_character(word.substr(begin)).size());
    bool single_found = false;
    Trie::Node node = Trie::kRoot;
    for (uint32_t end = begin; end < word.size();) {
      node = tokens_.child(node, word[end]);
      if (node == Trie::kNone) break;
      ++end;
      const TokenId id = tokens_.id(node);
      if (id == kNoToken) continue;
      reach(end, double{scores_[static_cast<size_t>(id)]}, id);
      single_found = single_found || end == single_end;
    }
    if (!single_found) reach(single_end, unknown_score_, kNoToken);
  }
  return static_cast<uint32_t>(word.size());
}

void UnigramEncoder::append_path(std::string_view word, Work& work) const {
  work.path.clear();
  for (auto end = static_cast<uint32_t>(word.size()); end > 0; end = work.steps[end].begin) {
    work.path.push_back(end);
  }
  uint32_t begin = 0;
  for (; !work.path.empty(); work.path.pop_back()) {
    const uint32_t end = work.path.back();
    const TokenId id = work.steps[end].id;
    if (id != kNoToken) {
      work.out.push_back(id);
    } else {
      append_unknown(word.substr(begin, end - begin), work);
    }
    begin = end;
  }
}

void UnigramEncoder::append_unknown(std::string_view character, Work& work) const {
  if (has_bytes_) {
    for (const char byte : character) {
      work.out.push_back(byte_tokens_[static_cast<uint8_t>(byte)]);
    }
  } else if (unknown_ != kNoToken && !work.ends_with(unknown_)) {
    work.out.push_back(unknown_);
  }
}

}  // namespace halogen::text
