#include "core/text/token_search.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include <string.h>

namespace halogen::text {
namespace {

constexpr size_t kMostRemembered = 4;  // at up to 3 MB for a large vocabulary

std::string joined(const Tokenizer& tokenizer, std::span<const TokenId> ids) {
  std::string text;
  for (const TokenId id : ids) text += tokenizer.piece(id);
  return text;
}

// The order of texts read backwards.
bool before_backwards(std::string_view a, std::string_view b) {
  return std::lexicographical_compare(
      a.rbegin(), a.rend(), b.rbegin(), b.rend(),
      [](char x, char y) { return static_cast<uint8_t>(x) < static_cast<uint8_t>(y); });
}

// The last eight bytes of a text, the last one first; missing ones are zeros, the least there are.
uint64_t last_bytes(std::string_view text) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < sizeof bytes; i++) {
    const bool there = i < text.size();
    bytes = bytes << 8U | (there ? static_cast<uint8_t>(text[text.size() - 1 - i]) : 0U);
  }
  return bytes;
}

}  // namespace

TokenSearch::TokenSearch(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {
  begins_.reserve(tokenizer.size() + 1);
  for (size_t id = 0; id < tokenizer.size(); id++) {
    begins_.push_back(static_cast<uint32_t>(pieces_.size()));
    pieces_ += tokenizer.piece(static_cast<TokenId>(id));
  }
  begins_.push_back(static_cast<uint32_t>(pieces_.size()));
  // Most texts differ in their last eight bytes, which are compared as one number.
  std::vector<std::pair<uint64_t, TokenId>> order(tokenizer.size());
  for (size_t id = 0; id < order.size(); id++)
    order[id] = {last_bytes(piece(id)), static_cast<TokenId>(id)};
  std::sort(order.begin(), order.end(), [this](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    return before_backwards(piece(static_cast<size_t>(a.second)),
                            piece(static_cast<size_t>(b.second)));
  });
  by_ending_.reserve(order.size());
  for (const auto& [bytes, id] : order) by_ending_.push_back(id);
}

Result<TokenSequences> TokenSearch::sequences(std::span<const std::string> texts) const {
  {
    const std::lock_guard lock(mutex_);
    const auto known = std::find_if(found_.begin(), found_.end(), [&](const Found& found) {
      return std::equal(texts.begin(), texts.end(), found.texts.begin(), found.texts.end());
    });
    if (known != found_.end()) {
      found_.splice(found_.begin(), found_, known);
      return known->sequences;
    }
  }
  auto sequences = search(texts);
  if (!sequences) return sequences;
  const std::lock_guard lock(mutex_);
  found_.push_front({{texts.begin(), texts.end()}, *sequences});
  if (found_.size() > kMostRemembered) found_.pop_back();
  return sequences;
}

// In the making.
struct TokenSearch::Sequences {
  std::vector<bool> single;                                     // by token
  std::map<std::vector<TokenId>, std::vector<TokenId>> firsts;  // by rest
  size_t elements = 0;  // of all in `firsts`, as many as they are in a list
};

Result<TokenSequences> TokenSearch::search(std::span<const std::string> texts) const {
  Sequences found;
  found.single.resize(begins_.size() - 1);
  for (const std::string& text : texts) {
    if (add(text, found)) continue;
    return fail(HALOGEN_E_INVALID,
                "the texts can be said in too many ways: in sequences of more "
                "than " +
                    std::to_string(kMostElements) +
                    " token ids together; ask for fewer, or shorter ones");
  }
  std::vector<TokenId> list;
  for (size_t id = 0; id < found.single.size(); id++)
    if (found.single[id]) list.insert(list.end(), {static_cast<TokenId>(id), kNoToken});
  list.reserve(list.size() + found.elements);
  for (auto& [rest, firsts] : found.firsts) {
    std::sort(firsts.begin(), firsts.end());
    firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
    for (const TokenId first : firsts) {
      list.push_back(first);
      list.insert(list.end(), rest.begin(), rest.end());
      list.push_back(kNoToken);
    }
  }
  if (list.empty()) return TokenSequences();
  list.shrink_to_fit();
  return TokenSequences(std::make_shared<const std::vector<TokenId>>(std::move(list)));
}

void TokenSearch::containing(std::string_view text, std::vector<TokenId>& ids) const {
  const char* const begin = pieces_.data();
  size_t id = 0;
  for (size_t at = 0;;) {
    // Unlike string_view::find, this does not stop at every place that has the first letter.
    const void* const found = memmem(begin + at, pieces_.size() - at, text.data(), text.size());
    if (found == nullptr) return;
    at = static_cast<size_t>(static_cast<const char*>(found) - begin);
    while (begins_[id + 1] <= at) id++;
    if (at + text.size() > begins_[id + 1]) {
      at++;
      continue;
    }
    ids.push_back(static_cast<TokenId>(id));
    at = begins_[id + 1];  // once is enough
  }
}

std::span<const TokenId> TokenSearch::ending(std::string_view text) const {
  const auto before = [&](TokenId id) {
    return before_backwards(piece(static_cast<size_t>(id)), text);
  };
  const auto ends = [&](TokenId id) { return piece(static_cast<size_t>(id)).ends_with(text); };
  const auto first = std::partition_point(by_ending_.begin(), by_ending_.end(), before);
  return {first, std::partition_point(first, by_ending_.end(), ends)};
}

bool TokenSearch::encode_rest(std::string_view rest, std::vector<TokenId>& ids) const {
  ids.clear();
  if (tokenizer_.encode(rest, {}, ids) && joined(tokenizer_, ids) == rest) return true;
  // Some vocabularies put a space before a text; behind a line feed there is none.
  ids.clear();
  if (!tokenizer_.encode("\n" + std::string(rest), {}, ids)) return false;
  const auto feed = std::find_if(ids.begin(), ids.end(),
                                 [this](TokenId id) { return tokenizer_.piece(id) == "\n"; });
  if (feed == ids.end()) return false;
  ids.erase(ids.begin(), feed + 1);
  return joined(tokenizer_, ids) == rest;
}

bool TokenSearch::add(std::string_view text, Sequences& sequences) const {
  if (text.empty()) return true;
  std::vector<TokenId> tokens, rest;
  containing(text, tokens);
  for (const TokenId id : tokens) sequences.single[static_cast<size_t>(id)] = true;
  for (size_t said = 1; said < text.size(); said++) {
    const std::span<const TokenId> ends = ending(text.substr(0, said));
    if (ends.empty() || !encode_rest(text.substr(said), rest)) continue;
    sequences.elements += ends.size() * (rest.size() + 2);
    if (sequences.elements > kMostElements) return false;
    std::vector<TokenId>& firsts = sequences.firsts[rest];
    // One that says the whole text is enough by itself.
    std::copy_if(ends.begin(), ends.end(), std::back_inserter(firsts), [&](TokenId id) {
      return piece(static_cast<size_t>(id)).find(text) == std::string_view::npos;
    });
  }
  return true;
}

}  // namespace halogen::text
