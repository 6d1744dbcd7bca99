// Tiny tokenizers of every kind against the ids and decodings of Hugging Face's tokenizers library,
// through the GGUF files that were converted from them.
#include <filesystem>
#include <fstream>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/text/tokenizer.h"
#include "core/text/utf8.h"
#include "tests/unit/text/gguf_vocabulary.h"

namespace halogen::text {
namespace {

const std::filesystem::path kData = HALOGEN_TEST_DATA;

struct Source {
  const char* name;
  const char* gguf;
  const char* tokenizer;
  // Where the GGUF file says less than the tokenizer.json.
  std::optional<SpacePrefix> space_prefix = {};
};

void PrintTo(const Source& source, std::ostream* out) {
  *out << source.name;
}

class GoldenEncodings : public ::testing::TestWithParam<Source> {
 protected:
  void SetUp() override {
    auto vocabulary = testing::read_gguf_vocabulary(kData / "gguf" / GetParam().gguf);
    const auto path =
        kData / "golden" / "tokenizers" / GetParam().tokenizer / "golden_encodings.json";
    std::ifstream file(path);
    if (!vocabulary || !file) GTEST_SKIP() << GetParam().gguf << " or " << path << " is missing";
    golden_ = nlohmann::json::parse(file);
    if (GetParam().space_prefix) vocabulary->space_prefix = GetParam().space_prefix;
    auto tokenizer = Tokenizer::create(std::move(*vocabulary));
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    tokenizer_ = std::move(*tokenizer);
  }

  // Calls check(entry, text, golden ids) for the entries of `list`.
  template <typename Check>
  void for_each_entry(const char* list, const Check& check) {
    for (const auto& entry : golden_.at(list)) {
      const auto text = entry.at("text").get<std::string>();
      check(entry, text, entry.at("ids_no_special").get<std::vector<TokenId>>());
    }
  }

  nlohmann::json golden_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_P(GoldenEncodings, Ids) {
  for (const char* list : {"cases", "fuzz"}) {
    for_each_entry(list, [&](const auto& entry, const std::string& text, const auto& golden_ids) {
      std::vector<TokenId> ids;
      ASSERT_TRUE(tokenizer_->encode(text, {.parse_special = true}, ids));
      EXPECT_EQ(ids, golden_ids) << "'" << text << "'";
      if (!entry.contains("ids")) return;
      ids.clear();
      ASSERT_TRUE(tokenizer_->encode(text, {.add_special = true, .parse_special = true}, ids));
      EXPECT_EQ(ids, entry.at("ids").template get<std::vector<TokenId>>()) << "'" << text << "'";
    });
  }
}

TEST_P(GoldenEncodings, Decodings) {
  for (const char* list : {"cases", "fuzz"}) {
    for_each_entry(list, [&](const auto& entry, const std::string& text, const auto& golden_ids) {
      EXPECT_EQ(sanitized(tokenizer_->decode(golden_ids, false)),
                entry.at("decoded").template get<std::string>())
          << "'" << text << "'";
      if (!entry.contains("decoded_skip")) return;
      EXPECT_EQ(sanitized(tokenizer_->decode(golden_ids, true)),
                entry.at("decoded_skip").template get<std::string>())
          << "'" << text << "'";
    });
  }
}

INSTANTIATE_TEST_SUITE_P(
    Tiny, GoldenEncodings,
    ::testing::Values(Source{"qwen2", "qwen2-tiny-f32.gguf", "qwen2-bpe"},
                      Source{"qwen2_embed", "qwen3-embed-tiny-bf16.gguf", "qwen2-bpe-embed"},
                      Source{"llama3", "llama3-rope-tiny-bf16.gguf", "llama3-bpe"},
                      Source{"llama3_tied", "llama-tied-f32-tiny-f32.gguf", "llama3-bpe"},
                      Source{"o200k", "gptoss-tiny-bf16.gguf", "o200k-bpe"},
                      Source{"gpt2_digits", "granite-tiny-bf16.gguf", "gpt2digits-bpe"},
                      Source{"llama2_sentence_piece", "llama-tiny-f32.gguf", "llama2-spm"},
                      Source{"llama2_metaspace", "mistral-tiny-f32.gguf", "llama2-metaspace",
                             SpacePrefix::kTextStart}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace halogen::text
