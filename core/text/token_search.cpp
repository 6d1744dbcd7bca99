#include "core/text/token_search.h"

#include <algorithm>

namespace halogen::text {
namespace {

constexpr size_t kMostRemembered = 64;

std::string joined(const Tokenizer& tokenizer, std::span<const TokenId> ids) {
  std::string text;
  for (const TokenId id : ids) text += tokenizer.piece(id);
  return text;
}

}  // namespace

std::span<const TokenId> TokenSearch::sequences(std::string_view text) {
  const auto known = found_.find(text);
  if (known != found_.end()) return known->second;
  if (begins_.empty()) index_pieces();
  if (found_.size() == kMostRemembered) found_.clear();
  return found_[std::string(text)] = search(text);
}

void TokenSearch::index_pieces() {
  for (size_t id = 0; id < tokenizer_.size(); id++) {
    begins_.push_back(static_cast<uint32_t>(pieces_.size()));
    pieces_ += tokenizer_.piece(static_cast<TokenId>(id));
  }
  begins_.push_back(static_cast<uint32_t>(pieces_.size()));
}

void TokenSearch::containing(std::string_view text, bool at_end, std::vector<TokenId>& ids) const {
  const std::string_view pieces = pieces_;
  for (size_t at = pieces.find(text); at != std::string_view::npos;) {
    const auto next = std::upper_bound(begins_.begin(), begins_.end(), at);
    const size_t end = *next;
    const bool inside = at + text.size() <= end;
    if (inside && (!at_end || at + text.size() == end)) {
      ids.push_back(static_cast<TokenId>(next - begins_.begin() - 1));
      at = end;  // once is enough
    } else {
      at++;
    }
    at = pieces.find(text, at);
  }
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

std::vector<TokenId> TokenSearch::search(std::string_view text) const {
  std::vector<TokenId> sequences, tokens, rest;
  if (text.empty()) return sequences;
  containing(text, false, tokens);
  for (const TokenId id : tokens) sequences.insert(sequences.end(), {id, kNoToken});
  for (size_t said = 1; said < text.size(); said++) {
    if (!encode_rest(text.substr(said), rest)) continue;
    tokens.clear();
    containing(text.substr(0, said), true, tokens);
    for (const TokenId id : tokens) {
      if (tokenizer_.piece(id).find(text) != std::string_view::npos) continue;
      sequences.push_back(id);
      sequences.insert(sequences.end(), rest.begin(), rest.end());
      sequences.push_back(kNoToken);
    }
  }
  return sequences;
}

}  // namespace halogen::text
