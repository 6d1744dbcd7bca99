// Texts that the golden models were run on: what a prompt encodes to, and what their answers say
// when they are streamed.
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/text/text_stream.h"
#include "core/text/tokenizer.h"
#include "tests/unit/text/gguf_vocabulary.h"
#include "tests/unit/text/small_vocabulary.h"
#include "tests/unit/text/tokenizer_json.h"

namespace halogen::text {
namespace {

using testing::encode;
using testing::make_tokenizer;

const std::filesystem::path kData = HALOGEN_TEST_DATA;

std::string streamed(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  TextStream stream(tokenizer, {.skip_special = false});
  std::string text;
  for (const TokenId id : ids) text += stream.push(id);
  return text += stream.finish();
}

struct Model {
  const char* name;
  const char* gguf;
};

void PrintTo(const Model& model, std::ostream* out) {
  *out << model.name;
}

class GoldenModel : public ::testing::TestWithParam<Model> {};

TEST_P(GoldenModel, EncodesThePromptsOfItsRuns) {
  auto vocabulary = testing::read_gguf_vocabulary(kData / "gguf" / GetParam().gguf);
  std::ifstream file(kData / "golden" / GetParam().name / "golden.json");
  if (!vocabulary || !file) GTEST_SKIP() << GetParam().gguf << " or its golden.json is missing";
  const auto tokenizer = make_tokenizer(std::move(*vocabulary));
  size_t checked = 0;
  const auto golden = nlohmann::json::parse(file);
  for (const auto& prompt : golden.at("prompts")) {
    if (prompt.at("text").is_null()) continue;
    const auto text = prompt.at("text").get<std::string>();
    const auto ids = prompt.at("ids").get<std::vector<TokenId>>();
    EXPECT_EQ(encode(*tokenizer, text, {.add_special = true, .parse_special = true}), ids) << text;
    EXPECT_EQ(tokenizer->decode(ids), text);
    checked++;
  }
  EXPECT_EQ(checked, 2U);
}

INSTANTIATE_TEST_SUITE_P(Tiny, GoldenModel,
                         ::testing::Values(Model{"deepseekv3-tiny", "deepseekv3-tiny-bf16.gguf"},
                                           Model{"gemma2-tiny", "gemma2-tiny-edited-f32.gguf"},
                                           Model{"gemma3-tiny", "gemma3-tiny-edited-bf16.gguf"},
                                           Model{"glm4moe-tiny", "glm4moe-tiny-bf16.gguf"},
                                           Model{"gptoss-tiny", "gptoss-tiny-bf16.gguf"},
                                           Model{"granite-tiny", "granite-tiny-bf16.gguf"},
                                           Model{"llama-tiny", "llama-tiny-f32.gguf"},
                                           Model{"llama3-rope-tiny", "llama3-rope-tiny-bf16.gguf"},
                                           Model{"mistral-tiny", "mistral-tiny-f32.gguf"},
                                           Model{"olmo2-tiny", "olmo2-tiny-bf16.gguf"},
                                           Model{"phi3-tiny", "phi3-tiny-f16.gguf"},
                                           Model{"qwen2-tiny", "qwen2-tiny-f32.gguf"},
                                           Model{"qwen3_5-tiny", "qwen3_5-tiny-bf16.gguf"},
                                           Model{"smollm3-tiny", "smollm3-tiny-bf16.gguf"},
                                           Model{"trained-qwen3-15m",
                                                 "trained-qwen3-15m-Q4_K_M.gguf"}),
                         [](const auto& test) {
                           std::string name = test.param.name;
                           std::erase(name, '-');
                           return name;
                         });

// The golden ids of one model: of its prompts, of the texts that it embeds or of the pairs that it
// ranks. Returns how many there were.
size_t check_golden_ids(const nlohmann::json& golden, const Tokenizer& tokenizer) {
  const EncodeOptions options = {.add_special = true, .parse_special = true};
  size_t checked = 0;
  const auto check = [&](const nlohmann::json& text, const nlohmann::json& ids) {
    const auto expected = ids.get<std::vector<TokenId>>();
    if (text.is_string()) {
      EXPECT_EQ(encode(tokenizer, text.get<std::string>(), options), expected) << text;
    } else {
      std::vector<TokenId> pair;
      EXPECT_TRUE(tokenizer.encode_pair(text.at(0).get<std::string>(),
                                        text.at(1).get<std::string>(), true, pair));
      EXPECT_EQ(pair, expected) << text;
    }
    checked++;
  };
  if (golden.contains("prompts")) {
    for (const auto& prompt : golden.at("prompts")) {
      if (!prompt.at("text").is_null()) check(prompt.at("text"), prompt.at("ids"));
    }
    return checked;
  }
  const auto& texts = golden.at(golden.contains("texts") ? "texts" : "pairs");
  for (size_t i = 0; i < texts.size(); ++i) check(texts.at(i), golden.at("ids").at(i));
  return checked;
}

// Every folder, those without a GGUF file included.
TEST(GoldenModels, EncodeTheirTextsWithTheirTokenizerJson) {
  if (!std::filesystem::exists(kData / "golden")) GTEST_SKIP() << kData << " is missing";
  size_t models = 0;
  for (const auto& folder : std::filesystem::directory_iterator(kData / "golden")) {
    std::ifstream file(folder.path() / "golden.json");
    auto vocabulary = testing::read_tokenizer_json(folder.path() / "tokenizer.json");
    if (!vocabulary || !file) continue;
    SCOPED_TRACE(folder.path().filename());
    EXPECT_GE(check_golden_ids(nlohmann::json::parse(file), *make_tokenizer(*vocabulary)), 2U);
    models++;
  }
  EXPECT_GE(models, 30U);
}

struct Encoder {
  const char* name;
  const char* gguf;
};

TEST(GoldenModels, EncodeTheirTextsWithTheirGguf) {
  size_t models = 0;
  for (const Encoder& encoder : {Encoder{"bert-minilm-tiny", "bert-minilm-tiny-f32.gguf"},
                                 Encoder{"xlmr-reranker-tiny", "xlmr-reranker-tiny-bf16.gguf"},
                                 Encoder{"qwen3-embed-tiny", "qwen3-embed-tiny-bf16.gguf"},
                                 Encoder{"qwen3-reranker-tiny", "qwen3-reranker-tiny-bf16.gguf"},
                                 Encoder{"llama4-text-tiny", "llama4-text-tiny-bf16.gguf"},
                                 Encoder{"qwen3next-tiny", "qwen3next-tiny-bf16.gguf"},
                                 Encoder{"qwen3moe-tiny", "qwen3moe-tiny-bf16.gguf"}}) {
    auto vocabulary = testing::read_gguf_vocabulary(kData / "gguf" / encoder.gguf);
    std::ifstream file(kData / "golden" / encoder.name / "golden.json");
    if (!vocabulary || !file) continue;
    SCOPED_TRACE(encoder.name);
    EXPECT_GE(check_golden_ids(nlohmann::json::parse(file), *make_tokenizer(*vocabulary)), 2U);
    models++;
  }
  if (models == 0) GTEST_SKIP() << "no GGUF files in " << kData;
}

TEST(TrainedModel, StreamsItsAnswers) {
  auto vocabulary = testing::read_gguf_vocabulary(kData / "gguf" / "trained-qwen3-15m-Q4_K_M.gguf");
  std::ifstream file(kData / "golden" / "trained-qwen3-15m" / "golden_samples.json");
  if (!vocabulary || !file) GTEST_SKIP() << "the trained model's vocabulary or samples are missing";
  const auto tokenizer = make_tokenizer(std::move(*vocabulary));
  const auto samples = nlohmann::json::parse(file);
  EXPECT_EQ(samples.size(), 14U);
  for (const auto& sample : samples) {
    const auto text = sample.at("text").get<std::string>();
    const auto answer = sample.at("greedy_ids").get<std::vector<TokenId>>();
    EXPECT_EQ(encode(*tokenizer, text, {.parse_special = true}),
              sample.at("ids").get<std::vector<TokenId>>());
    EXPECT_EQ(streamed(*tokenizer, answer), sample.at("continuation").get<std::string>());
    if (sample.value("stopped_at_eos", false)) {
      EXPECT_TRUE(tokenizer->is_eog(answer.back()));
    }
  }
}

TEST(Stories, EncodesAndStreams) {
  auto vocabulary = testing::read_gguf_vocabulary(kData / "stories260K" / "stories260K-f32.gguf");
  std::ifstream file(kData / "stories260K" / "golden.json");
  if (!vocabulary || !file) GTEST_SKIP() << "stories260K is missing";
  const auto tokenizer = make_tokenizer(std::move(*vocabulary));
  const auto golden = nlohmann::json::parse(file);
  for (const auto& prompt : golden.at("prompts")) {
    EXPECT_EQ(encode(*tokenizer, prompt.at("text").get<std::string>(), {.add_special = true}),
              prompt.at("ids").get<std::vector<TokenId>>());
    EXPECT_EQ(streamed(*tokenizer, prompt.at("greedy_ids").get<std::vector<TokenId>>()),
              prompt.at("continuation").get<std::string>());
  }
}

}  // namespace
}  // namespace halogen::text
