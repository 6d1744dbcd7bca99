#include "core/text/byte_pair_encoder.h"

#include <string>
#include <utility>

#include "core/text/normalize.h"
#include "core/text/split_patterns.h"
#include "core/text/vocabulary_merges.h"

namespace halogen::text {

namespace {

std::vector<std::string> patterns_of(const Vocabulary& vocabulary) {
  if (!vocabulary.split_patterns.empty()) return vocabulary.split_patterns;
  const PreTokenizer* pre = find_pre_tokenizer(vocabulary.pre);
  return {pre->patterns.begin(), pre->patterns.end()};
}

// The tokens that a word can become, by text; the others' texts stay empty.
TokenIndex index_normal_tokens(const Vocabulary& vocabulary,
                               const std::vector<std::string_view>& texts) {
  std::vector<std::string_view> normal(texts.size());
  for (size_t id = 0; id < texts.size(); ++id) {
    const auto type = static_cast<TokenType>(vocabulary.types[id]);
    if (type != TokenType::kControl && type != TokenType::kUnknown) normal[id] = texts[id];
  }
  return TokenIndex(std::move(normal));
}

TokenIndex index_tokens(const Vocabulary& vocabulary) {
  return TokenIndex({vocabulary.tokens.begin(), vocabulary.tokens.end()});
}

}  // namespace

Result<std::unique_ptr<FragmentEncoder>> BytePairEncoder::create(
    const Vocabulary& vocabulary, const std::vector<std::string_view>& pieces) {
  Result<Splitter> splitter = Splitter::create(patterns_of(vocabulary));
  if (!splitter) return within("vocabulary", splitter.error());
  return std::unique_ptr<FragmentEncoder>(
      new BytePairEncoder(vocabulary, pieces, std::move(*splitter)));
}

BytePairEncoder::BytePairEncoder(const Vocabulary& vocabulary,
                                 const std::vector<std::string_view>& pieces, Splitter splitter)
    : splitter_(std::move(splitter)),
      words_(index_normal_tokens(vocabulary, pieces)),
      known_words_(pieces.size()),
      merges_(vocabulary_merges(vocabulary, index_tokens(vocabulary))),
      unknown_(vocabulary.unk),
      ignore_merges_(vocabulary.ignore_merges == true),
      normalize_(vocabulary.normalize_nfc == true) {
  for (size_t byte = 0; byte < byte_tokens_.size(); ++byte) {
    const char text = static_cast<char>(byte);
    byte_tokens_[byte] = words_.find({&text, 1});
  }
}

Status BytePairEncoder::encode(std::string_view fragment, bool /*text_start*/,
                               std::vector<TokenId>& out) const {
  std::string normalized;
  if (normalize_ && !is_surely_normalized(fragment)) {
    normalized = normalized_nfc(fragment);
    fragment = normalized;
  }
  std::vector<uint32_t> ends;
  if (Status s = splitter_.split(fragment, ends); !s) return s;

  Merger merger(merges_);
  uint32_t begin = 0;
  for (const uint32_t end : ends) {
    encode_word(fragment.substr(begin, end - begin), merger, out);
    begin = end;
  }
  return {};
}

void BytePairEncoder::encode_word(std::string_view word, Merger& merger,
                                  std::vector<TokenId>& out) const {
  const TokenId whole = words_.find(word);
  if (whole != kNoToken && (ignore_merges_ || known_words_.is_whole(whole))) {
    out.push_back(whole);
    return;
  }
  merger.begin();
  for (const char byte : word) merger.push(byte_tokens_[static_cast<uint8_t>(byte)]);
  merger.merge([&](TokenId id, uint32_t) {
    if (id == kNoToken) id = unknown_;
    if (id != kNoToken) out.push_back(id);
    if (id != kNoToken && id == whole) known_words_.remember(id);
  });
}

}  // namespace halogen::text
