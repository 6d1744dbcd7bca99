// Engine::start: text through a real tokenizer.
#include "core/text/tokenizer.h"
#include "served.h"

namespace halogen::fake {
namespace {

// Control tokens, the two bytes of é, and letters.
std::unique_ptr<text::Tokenizer> small_tokenizer() {
  text::Vocabulary vocabulary;
  vocabulary.model = "llama";
  auto add = [&vocabulary](std::string token, text::TokenType type) {
    vocabulary.tokens.push_back(std::move(token));
    vocabulary.types.push_back(static_cast<int32_t>(type));
    vocabulary.scores.push_back(-static_cast<float>(vocabulary.tokens.size()));
  };
  add("<unk>", text::TokenType::kUnknown);
  add("<s>", text::TokenType::kControl);
  add("</s>", text::TokenType::kControl);
  add("<0xC3>", text::TokenType::kByte);
  add("<0xA9>", text::TokenType::kByte);
  for (char c = 'a'; c <= 'z'; c++) add(std::string(1, c), text::TokenType::kNormal);
  vocabulary.bos = 1;
  vocabulary.eos = 2;
  vocabulary.unk = 0;
  auto tokenizer = text::Tokenizer::create(std::move(vocabulary));
  EXPECT_TRUE(tokenizer) << tokenizer.error().message;
  return std::move(*tokenizer);
}

class EngineTokenizer : public testing::Test {
 protected:
  // Bans every token but these, so that a request can be led through a text.
  static std::vector<halogen_logit_bias> only(const std::vector<int32_t>& tokens) {
    std::vector<halogen_logit_bias> biases;
    for (int32_t token = 0; token < 31; token++)
      if (std::find(tokens.begin(), tokens.end(), token) == tokens.end())
        biases.push_back({token, -100});
    return biases;
  }

  Stream run(GenerationRequest request) {
    EngineLimits limits = small_limits();
    limits.vocabulary_size = static_cast<uint32_t>(tokenizer_->size());
    auto loop = Loop::create();
    EXPECT_TRUE(loop);
    Device device(limits.vocabulary_size, limits.block_tokens, limits.total_blocks);
    EngineParts parts;
    parts.backend = &Device::factory();
    parts.program = device.program();
    parts.kv = device.kv();
    parts.sampler = &sampler::factory;
    parts.scheduler = &scheduler::factory;
    parts.tokenizer = tokenizer_.get();
    EXPECT_EQ(
        sampler::factory.create(nullptr, limits.vocabulary_size, &parts.sampler_instance, nullptr),
        HALOGEN_OK);
    EXPECT_EQ(scheduler::factory.create(nullptr, &parts.scheduler_instance, nullptr), HALOGEN_OK);
    Stream stream;
    {
      auto engine = Engine::start(**loop, parts, limits);
      EXPECT_TRUE(engine) << engine.error().message;
      auto id = (*engine)->submit(std::move(request), [&](const GenerationEvent& event) {
        stream.tokens.insert(stream.tokens.end(), event.tokens.begin(), event.tokens.end());
        stream.text += event.text;
        stream.last = event;
        if (event.finish != FinishReason::none) (*loop)->stop();
      });
      EXPECT_TRUE(id) << id.error().message;
      if (id) (*loop)->run();
    }
    scheduler::factory.destroy(parts.scheduler_instance);
    sampler::factory.destroy(parts.sampler_instance);
    return stream;
  }

  std::unique_ptr<text::Tokenizer> tokenizer_ = small_tokenizer();
};

TEST_F(EngineTokenizer, TextIsThePiecesOfTheTokens) {
  GenerationRequest request = request_of({1, 5, 6}, 30);
  request.sampling.logit_bias = only({5, 6, 7, 8, 9, 10, 1});
  const Stream stream = run(request);
  std::string expected;
  for (int32_t token : stream.tokens)
    if (token != 1) expected += tokenizer_->piece(token);
  EXPECT_EQ(stream.tokens.size(), 30U);
  EXPECT_EQ(stream.text, expected);
}

TEST_F(EngineTokenizer, TheVocabularysEndTokenEndsGeneration) {
  GenerationRequest request = request_of({1}, 100);
  request.ignore_eos = false;
  request.sampling.logit_bias = only({2, 5, 6});
  const Stream stream = run(request);
  EXPECT_EQ(stream.last.finish, FinishReason::stop);
  EXPECT_EQ(stream.tokens.back(), 2);
  EXPECT_EQ(stream.text.find("</s>"), std::string::npos);
}

TEST_F(EngineTokenizer, AStopStringEndsTheTextBeforeIt) {
  GenerationRequest request = request_of({1}, 100);
  request.sampling.logit_bias = only({5, 6});  // "a" and "b"
  request.stop = {"bab"};
  const Stream stream = run(request);
  EXPECT_EQ(stream.last.finish, FinishReason::stop);
  std::string all;
  for (int32_t token : stream.tokens) all += tokenizer_->piece(token);
  EXPECT_EQ(stream.text + "bab", all);
  EXPECT_EQ(stream.text.find("bab"), std::string::npos);
}

TEST_F(EngineTokenizer, ACharacterThatStaysIncompleteIsReplacedAtTheEnd) {
  GenerationRequest request = request_of({1}, 1);
  request.sampling.logit_bias = only({3});
  EXPECT_EQ(run(request).text, "\xEF\xBF\xBD");
}

}  // namespace
}  // namespace halogen::fake
