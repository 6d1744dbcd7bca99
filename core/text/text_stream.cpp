#include "core/text/text_stream.h"

#include <utility>

#include "core/text/utf8.h"

namespace halogen::text {

namespace {

constexpr size_t kUsualCapacity = 256;  // bytes; more than most tokens and stop strings need

}  // namespace

TextStream::TextStream(const Tokenizer& tokenizer, TextStreamOptions options)
    : tokenizer_(tokenizer),
      matcher_(std::move(options.stop)),
      include_stop_(options.include_stop),
      skip_special_(options.skip_special) {
  incomplete_.reserve(kUsualCapacity);
  text_.reserve(kUsualCapacity);
}

std::string_view TextStream::push(TokenId id) {
  text_.erase(0, std::exchange(taken_, 0));
  if (ended_) return {};
  if (skip_special_ && tokenizer_.is_special(id)) return {};

  incomplete_.append(tokenizer_.piece(id));
  const size_t complete = complete_prefix(incomplete_);
  const size_t already_read = text_.size();
  append_sanitized(std::string_view(incomplete_).substr(0, complete), text_);
  incomplete_.erase(0, complete);
  return advance(already_read);
}

std::string_view TextStream::finish() {
  text_.erase(0, std::exchange(taken_, 0));
  if (ended_) return {};
  const size_t already_read = text_.size();
  append_sanitized(incomplete_, text_);
  incomplete_.clear();
  advance(already_read);
  ended_ = true;
  return take(text_.size());
}

// Looks for stop strings in what text_ has gained, and takes what is final.
std::string_view TextStream::advance(size_t already_read) {
  const auto match = matcher_.advance(std::string_view(text_).substr(already_read));
  if (!match) return take(text_.size() - matcher_.held());

  stop_ = match->string;
  ended_ = true;
  incomplete_.clear();
  const size_t end = already_read + match->end;
  text_.resize(include_stop_ ? end : end - matcher_.string(match->string).size());
  return take(text_.size());
}

std::string_view TextStream::take(size_t end) {
  taken_ = end;
  return std::string_view(text_).substr(0, end);
}

}  // namespace halogen::text
