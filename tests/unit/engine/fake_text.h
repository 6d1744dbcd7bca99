// Text without a tokenizer: token i reads as the letter 'a' + i % 26, and one token ends
// generation.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/engine/text_sink.h"

namespace halogen::fake {

inline char letter(int32_t token) {
  return static_cast<char>('a' + token % 26);
}

inline std::string letters(const std::vector<int32_t>& tokens) {
  std::string text;
  for (int32_t token : tokens) text += letter(token);
  return text;
}

// Holds back as many letters as the longest stop string may still need.
class Sink final : public TextSink {
 public:
  explicit Sink(std::vector<std::string> stop) : stop_(std::move(stop)) {
    for (const std::string& stop_string : stop_) longest_ = std::max(longest_, stop_string.size());
    held_.reserve(64);
  }

  bool push(int32_t token, std::string& text) override {
    held_ += letter(token);
    for (const std::string& stop : stop_) {
      if (!held_.ends_with(stop)) continue;
      text.append(held_, 0, held_.size() - stop.size());
      return true;
    }
    const size_t keep = longest_ == 0 ? 0 : longest_ - 1;
    const size_t certain = held_.size() - std::min(held_.size(), keep);
    text.append(held_, 0, certain);
    held_.erase(0, certain);
    return false;
  }

  void finish(std::string& text) override { text += held_; }

 private:
  const std::vector<std::string> stop_;
  size_t longest_ = 0;
  std::string held_;
};

class Text final : public TextSource {
 public:
  explicit Text(int32_t end_token) : end_token_(end_token) {}

  Result<std::unique_ptr<TextSink>> open(const GenerationRequest& request) const override {
    return std::unique_ptr<TextSink>(std::make_unique<Sink>(request.stop));
  }
  bool ends_generation(int32_t token) const override { return token == end_token_; }
  std::span<const int32_t> end_tokens() const override { return {&end_token_, 1}; }

 private:
  const int32_t end_token_;
};

}  // namespace halogen::fake
