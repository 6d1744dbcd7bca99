// Which tokens say a text: for what must be noticed in a sequence of tokens without decoding it,
// such as the sequence breakers of DRY.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/tokenizer.h"

namespace halogen::text {

// Not thread-safe: it remembers what it has found. The tokenizer outlives it.
class TokenSearch {
 public:
  explicit TokenSearch(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  // The token sequences with whose last token `text` has just been said, each followed by -1: every
  // token that contains it, and every token that ends with a beginning of it, followed by the
  // tokens of the rest. Of the rest's tokenisations there is the tokenizer's own alone. Empty for
  // an empty text. Valid until the next call. The first search for a text reads the texts of the
  // whole vocabulary once for each of its bytes; then it is remembered.
  std::span<const TokenId> sequences(std::string_view text);

 private:
  void index_pieces();
  // Appends, in order, the ids of the tokens that contain `text`, or end with it.
  void containing(std::string_view text, bool at_end, std::vector<TokenId>& ids) const;
  // The tokens of the rest of a text, as they are inside a text. False where there are none.
  bool encode_rest(std::string_view rest, std::vector<TokenId>& ids) const;
  std::vector<TokenId> search(std::string_view text) const;

  const Tokenizer& tokenizer_;
  std::string pieces_;            // of all tokens, one after the other; made at the first search
  std::vector<uint32_t> begins_;  // where each begins, and the end
  std::map<std::string, std::vector<TokenId>, std::less<>> found_;
};

}  // namespace halogen::text
