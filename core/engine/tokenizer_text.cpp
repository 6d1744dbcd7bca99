// The text side as it is in a server: a TextStream for each sequence over the model's tokenizer.
#include <memory>
#include <utility>

#include "core/engine/engine_start.h"
#include "core/text/text_stream.h"
#include "core/text/tokenizer.h"

namespace halogen {

namespace {

class StreamSink final : public TextSink {
 public:
  StreamSink(const text::Tokenizer& tokenizer, text::TextStreamOptions options)
      : stream_(tokenizer, std::move(options)) {}

  bool push(int32_t token, std::string& text) override {
    text += stream_.push(token);
    return stream_.stop().has_value();
  }

  void finish(std::string& text) override { text += stream_.finish(); }

 private:
  text::TextStream stream_;
};

class TokenizerText final : public TextSource {
 public:
  explicit TokenizerText(const text::Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  Result<std::unique_ptr<TextSink>> open(const GenerationRequest& request) const override {
    text::TextStreamOptions options;
    options.stop = request.stop;
    options.skip_special = request.skip_special;
    return std::unique_ptr<TextSink>(std::make_unique<StreamSink>(tokenizer_, std::move(options)));
  }

  bool ends_generation(int32_t token) const override { return tokenizer_.is_eog(token); }

  std::span<const int32_t> end_tokens() const override {
    return tokenizer_.vocabulary().end_of_generation;
  }

 private:
  const text::Tokenizer& tokenizer_;
};

}  // namespace

Result<std::unique_ptr<Engine>> Engine::start(Loop& loop, EngineParts parts, EngineLimits limits) {
  auto text = std::make_unique<TokenizerText>(*parts.tokenizer);
  return start_engine(loop, std::move(parts), limits, std::move(text));
}

}  // namespace halogen
