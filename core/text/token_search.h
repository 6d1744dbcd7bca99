// Which tokens say a text: for what must be noticed in a sequence of tokens without decoding it,
// such as the sequence breakers of DRY.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/text/tokenizer.h"

namespace halogen::text {

// Token sequences one after the other, each followed by -1.
using TokenSequences = std::shared_ptr<const std::vector<TokenId>>;

class TokenSearch {
 public:
  // The most that sequences() gives of several tokens: ids and ends of them all, 1 MiB.
  static constexpr size_t kMostElements = size_t{1} << 18;

  // [any] Reads the texts of the vocabulary and sorts its ids, which takes up to a few hundred
  // milliseconds for a large one, and keeps a copy of the texts. The tokenizer outlives it.
  explicit TokenSearch(const Tokenizer& tokenizer);

  // [any] The token sequences with whose last token one of the texts has just been said, each
  // sequence once: every token that contains the text, and every token that ends with a beginning
  // of it, followed by the tokens of the rest. Of the rest's tokenisations there is the tokenizer's
  // own alone. The single tokens come first; sequences that share their rest follow each other in
  // order of their first tokens. Empty texts count as none; null where there are no sequences.
  // HALOGEN_E_INVALID where there are more than kMostElements.
  //
  // A new text takes one pass over the texts of the vocabulary, about a millisecond for a large
  // one, and an encode() for each of its bytes. The last few lists of texts are remembered; a lock
  // is held only to ask that memory.
  Result<TokenSequences> sequences(std::span<const std::string> texts) const;

 private:
  struct Found {
    std::vector<std::string> texts;
    TokenSequences sequences;
  };

  std::string_view piece(size_t id) const {
    return std::string_view(pieces_).substr(begins_[id], begins_[id + 1] - begins_[id]);
  }
  // Appends the ids of the tokens that contain `text`.
  void containing(std::string_view text, std::vector<TokenId>& ids) const;
  // The ids of the tokens that end with it.
  std::span<const TokenId> ending(std::string_view text) const;
  // The tokens of the rest of a text, as they are inside a text. False where there are none.
  bool encode_rest(std::string_view rest, std::vector<TokenId>& ids) const;
  struct Sequences;
  // Adds those of one text. False where they are too many.
  bool add(std::string_view text, Sequences& sequences) const;
  Result<TokenSequences> search(std::span<const std::string> texts) const;

  const Tokenizer& tokenizer_;
  std::string pieces_;              // of all tokens, one after the other
  std::vector<uint32_t> begins_;    // where each begins, and the end
  std::vector<TokenId> by_ending_;  // in order of their texts read backwards

  mutable std::mutex mutex_;
  mutable std::list<Found> found_;  // the latest first
};

}  // namespace halogen::text
