// The vocabularies of published models against llama.cpp's expected ids: a file X.gguf with
// X.gguf.inp (texts) and X.gguf.out (ids, a line for each text).
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/text/tokenizer.h"
#include "tests/unit/text/gguf_vocabulary.h"

namespace halogen::text {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(HALOGEN_TEST_DATA) / "vocab";

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> read_texts(const std::filesystem::path& path) {
  const std::string separator = "\n__ggml_vocab_test__\n";
  const std::string all = read_file(path);
  std::vector<std::string> texts;
  size_t begin = 0;
  for (size_t end = 0; (end = all.find(separator, begin)) != std::string::npos;
       begin = end + separator.size()) {
    texts.push_back(all.substr(begin, end - begin));
  }
  return texts;
}

std::vector<std::vector<TokenId>> read_ids(const std::filesystem::path& path) {
  std::istringstream lines(read_file(path));
  std::vector<std::vector<TokenId>> all;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream numbers(line);
    std::vector<TokenId>& ids = all.emplace_back();
    for (TokenId id = 0; numbers >> id;) ids.push_back(id);
  }
  return all;
}

// `made-ggml-vocab-X.gguf` was rebuilt for the pair ggml-vocab-X.gguf.inp and .out.
class VocabularyFile : public ::testing::TestWithParam<const char*> {};

TEST_P(VocabularyFile, EncodesAsExpectedAndDecodesBack) {
  const std::string pair = "ggml-vocab-" + std::string(GetParam()) + ".gguf";
  auto vocabulary = testing::read_gguf_vocabulary(kFolder / pair);
  if (!vocabulary) vocabulary = testing::read_gguf_vocabulary(kFolder / ("made-" + pair));
  if (!vocabulary) GTEST_SKIP() << "no GGUF file of " << pair << " in " << kFolder;
  const std::vector<std::string> texts = read_texts(kFolder / (pair + ".inp"));
  const std::vector<std::vector<TokenId>> expected = read_ids(kFolder / (pair + ".out"));
  ASSERT_FALSE(texts.empty());
  ASSERT_EQ(texts.size(), expected.size());

  auto tokenizer = Tokenizer::create(std::move(*vocabulary));
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  const bool loses_text =  // case, accents, spaces
      tokenizer_kind((*tokenizer)->vocabulary()) == TokenizerKind::kWordPiece;
  for (size_t i = 0; i < texts.size(); ++i) {
    for (const bool parse_special : {false, true}) {
      std::vector<TokenId> ids;
      ASSERT_TRUE((*tokenizer)->encode(texts[i], {.parse_special = parse_special}, ids));
      EXPECT_EQ(ids, expected[i]) << "text " << i << ": '" << texts[i] << "'";
      if (loses_text) continue;
      EXPECT_EQ((*tokenizer)->decode(ids, false), texts[i]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Published, VocabularyFile,
                         ::testing::Values("bert-bge", "command-r", "deepseek-coder", "falcon",
                                           "gemma-4", "gpt-2", "llama-bpe", "llama-spm", "mpt",
                                           "phi-3", "qwen2", "qwen35", "refact", "starcoder"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace halogen::text
