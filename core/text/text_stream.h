// The text of one sequence while it is being generated: token ids in, text out, as early as it can
// be final. Text never ends within a UTF-8 character, and what may turn out to be the beginning of
// a stop string is held back until that is decided. A SentencePiece token's leading space stays,
// since generated text continues a prompt.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/stop_matcher.h"
#include "core/text/tokenizer.h"

namespace halogen::text {

struct TextStreamOptions {
  std::vector<std::string> stop = {};  // valid UTF-8; empty strings are ignored
  bool include_stop = false;           // the text ends with the stop string instead of before it
  bool skip_special = true;            // control tokens add no text
};

// Not for concurrent use; allocates nothing for a token once its buffers have grown to the longest
// stop string and token. The tokenizer must outlive it.
class TextStream {
 public:
  TextStream(const Tokenizer& tokenizer, TextStreamOptions options);

  // Takes the next token and returns the text that has become final: valid UTF-8, often empty. It
  // is valid until the next call. After a stop string was found, more tokens change nothing.
  std::string_view push(TokenId id);

  // The end of the sequence: returns what was held back. A character that stayed incomplete becomes
  // U+FFFD. Further calls of push() and finish() return nothing.
  std::string_view finish();

  // The number of the stop string that was found. The one that is complete first counts; of several
  // that end at the same byte, the longest.
  std::optional<size_t> stop() const { return stop_; }

  // Bytes of text held back at present.
  size_t held() const { return text_.size() - taken_ + incomplete_.size(); }

 private:
  std::string_view advance(size_t already_read);
  std::string_view take(size_t end);

  const Tokenizer& tokenizer_;
  StopMatcher matcher_;
  bool include_stop_;
  bool skip_special_;

  std::string incomplete_;  // bytes of a character that later tokens complete
  std::string text_;        // valid text: what was returned last, then what is held back
  size_t taken_ = 0;        // bytes of text_ that were returned
  std::optional<size_t> stop_;
  bool ended_ = false;
};

}  // namespace halogen::text
