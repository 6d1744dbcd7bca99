// Tiny tokenizers of every kind against the ids and decodings of Hugging Face's tokenizers library,
// from their tokenizer.json and through the GGUF files that were converted from it.
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
#include "tests/unit/text/tokenizer_json.h"

namespace halogen::text {
namespace {

const std::filesystem::path kData = HALOGEN_TEST_DATA;

struct Source {
  const char* name;
  const char* tokenizer;
  const char* gguf = "";  // converted from that tokenizer; empty: its tokenizer.json is read
  // Where the GGUF file says less than the tokenizer.json.
  std::optional<SpacePrefix> space_prefix = {};
  TokenId mask = kNoToken;
};

void PrintTo(const Source& source, std::ostream* out) {
  *out << source.name;
}

class GoldenEncodings : public ::testing::TestWithParam<Source> {
 protected:
  void SetUp() override {
    const auto folder = kData / "golden" / "tokenizers" / GetParam().tokenizer;
    const std::string gguf = GetParam().gguf;
    auto vocabulary = gguf.empty() ? testing::read_tokenizer_json(folder / "tokenizer.json")
                                   : testing::read_gguf_vocabulary(kData / "gguf" / gguf);
    std::ifstream file(folder / "golden_encodings.json");
    if (!vocabulary || !file) GTEST_SKIP() << folder << " or " << gguf << " is missing";
    golden_ = nlohmann::json::parse(file);
    if (GetParam().space_prefix) vocabulary->space_prefix = GetParam().space_prefix;
    if (GetParam().mask != kNoToken) {
      const auto mask = static_cast<size_t>(GetParam().mask);
      vocabulary->tokens[mask] = "<mask>";
      vocabulary->types[mask] = static_cast<int32_t>(TokenType::kControl);
    }
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

TEST_P(GoldenEncodings, Pairs) {
  if (!golden_.contains("pairs")) return;
  for (const auto& pair : golden_.at("pairs")) {
    std::vector<TokenId> ids;
    const auto first = pair.at("a").get<std::string>();
    const auto second = pair.at("b").get<std::string>();
    ASSERT_TRUE(tokenizer_->encode_pair(first, second, true, ids));
    EXPECT_EQ(ids, pair.at("ids").get<std::vector<TokenId>>()) << first << " | " << second;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Tiny, GoldenEncodings,
    ::testing::Values(
        Source{"qwen2", "qwen2-bpe"}, Source{"qwen2_gguf", "qwen2-bpe", "qwen2-tiny-f32.gguf"},
        Source{"qwen2_embed", "qwen2-bpe-embed"},
        Source{"qwen2_embed_gguf", "qwen2-bpe-embed", "qwen3-embed-tiny-bf16.gguf"},
        Source{"llama3", "llama3-bpe"},
        Source{"llama3_gguf", "llama3-bpe", "llama3-rope-tiny-bf16.gguf"},
        Source{"llama3_tied_gguf", "llama3-bpe", "llama-tied-f32-tiny-f32.gguf"},
        Source{"o200k", "o200k-bpe"}, Source{"o200k_gguf", "o200k-bpe", "gptoss-tiny-bf16.gguf"},
        Source{"gpt2_digits", "gpt2digits-bpe"},
        Source{"gpt2_digits_gguf", "gpt2digits-bpe", "granite-tiny-bf16.gguf"},
        Source{"llama2_sentence_piece", "llama2-spm"},
        Source{"llama2_sentence_piece_gguf", "llama2-spm", "llama-tiny-f32.gguf"},
        Source{"llama2_metaspace", "llama2-metaspace"},
        Source{"llama2_metaspace_gguf", "llama2-metaspace", "mistral-tiny-f32.gguf",
               SpacePrefix::kTextStart},
        Source{"unigram", "xlmr-unigram"},
        Source{"unigram_gguf", "xlmr-unigram", "xlmr-reranker-tiny-bf16.gguf", {}, 1023},
        Source{"word_piece", "bert-wordpiece"},
        Source{"word_piece_gguf", "bert-wordpiece", "bert-minilm-tiny-f32.gguf"},
        Source{"word_piece_cased", "bert-wordpiece-cased"}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace halogen::text
