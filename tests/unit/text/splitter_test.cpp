#include "core/text/splitter.h"

#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/text/split_patterns.h"

namespace halogen::text {
namespace {

std::vector<std::string> words(const std::vector<std::string>& patterns, std::string_view text) {
  const auto splitter = Splitter::create(patterns);
  EXPECT_TRUE(splitter);
  std::vector<uint32_t> ends;
  EXPECT_TRUE(splitter->split(text, ends).ok());
  std::vector<std::string> words;
  uint32_t begin = 0;
  for (const uint32_t end : ends) {
    words.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  EXPECT_EQ(begin, text.size());
  return words;
}

std::vector<std::string> words_of(const char* pre, std::string_view text) {
  const PreTokenizer* found = find_pre_tokenizer(pre);
  EXPECT_NE(found, nullptr) << pre;
  return words({found->patterns.begin(), found->patterns.end()}, text);
}

using Words = std::vector<std::string>;

TEST(Splitter, SplitsAsTheFamiliesDo) {
  const std::string text = "I'm  DON'T 1234,\n x";
  EXPECT_EQ(words_of("gpt-2", text),
            (Words{"I", "'m", " ", " DON", "'", "T", " 1234", ",", "\n", " x"}));
  EXPECT_EQ(words_of("llama-bpe", text),
            (Words{"I", "'m", " ", " DON", "'T", " ", "123", "4", ",\n", " x"}));
  EXPECT_EQ(words_of("qwen2", text),
            (Words{"I", "'m", " ", " DON", "'T", " ", "1", "2", "3", "4", ",\n", " x"}));
  EXPECT_EQ(words_of("gpt-4o", text), (Words{"I'm", " ", " DON'T", " ", "123", "4", ",\n", " x"}));
  EXPECT_EQ(words_of("refact", text),
            (Words{"I", "'m", " ", " DON", "'", "T", " ", "1", "2", "3", "4", ",", "\n", " x"}));
  EXPECT_EQ(words_of("falcon", text),
            (Words{"I", "'", "m", " ", " DON", "'", "T", " ", "123", "4", ",", "\n", " x"}));
}

TEST(Splitter, SplitsCaseAndSlashesAsTheNewerFamiliesDo) {
  EXPECT_EQ(words_of("gpt-4o", "camelCaseXMLWord a//\n"),
            (Words{"camel", "Case", "XMLWord", " a", "//\n"}));
  EXPECT_EQ(words_of("tekken", "camelCase's 12"), (Words{"camel", "Case", "'s", " ", "1", "2"}));
  EXPECT_EQ(words_of("qwen2", "नमस्ते"), (Words{"नमस", "\u094Dत", "\u0947"}));
  EXPECT_EQ(words_of("qwen35", "नमस्ते"), (Words{"नमस्ते"}));
  EXPECT_EQ(words_of("deepseek-v3", "a1234你好b, c"),
            (Words{"a", "123", "4", "你好", "b", ",", " c"}));
  EXPECT_EQ(words_of("deepseek-llm", "a b  \n12  "), (Words{"a", " b", "  ", "\n", "12", "  "}));
}

TEST(Splitter, EveryKnownPreTokenizerCompilesAndLosesNothing) {
  const std::string names = pre_tokenizer_names();
  size_t count = 0;
  for (size_t begin = 0; begin < names.size(); ++count) {
    const size_t end = std::min(names.find(", ", begin), names.size());
    const std::string name = names.substr(begin, end - begin);
    const PreTokenizer* found = find_pre_tokenizer(name);
    ASSERT_NE(found, nullptr) << name;
    EXPECT_EQ(found->patterns.empty(), found->characters) << name;
    const std::string text = "It's 3.14 — naïve\tCamelCase 你好 😀\r\n\n  end 12 ";
    if (!found->characters) {
      EXPECT_GT(words_of(name.c_str(), text).size(), 4U) << name;
    }
    begin = end + 2;
  }
  EXPECT_GE(count, 80U);
  EXPECT_EQ(find_pre_tokenizer("no-such"), nullptr);
  EXPECT_EQ(find_pre_tokenizer(""), find_pre_tokenizer("default"));
}

// Where a published expression would take quadratic time, ours is another one that cuts alike.
TEST(Splitter, CutsAsThePublishedExpressionsDo) {
  constexpr const char* kLetters =
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)";
  const std::vector<std::string> jais = {
      std::string(kLetters) +
      R"(|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S))"
      R"(|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})"};
  constexpr const char* kWords =
      R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  const std::vector<std::string> tiny_aya = {R"(\d{1,3}(?=(?:\d{3})*\b))", kWords};
  const std::vector<std::string> exaone = {
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N})"
      R"(| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)"};
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    constexpr const char* kUnits[] = {" ",   " ",     "    ", "\n", "\r\n", "1",
                                      "234", "56789", "a",    "Bc", "é",    "e\u0301",
                                      "你",  "!",     "'s",   "½",  "/",    "."};
    std::string text;
    for (uint32_t i = 0; i <= random() % 12; ++i) text += kUnits[random() % std::size(kUnits)];
    EXPECT_EQ(words_of("jais-2", text), words(jais, text)) << text;
    EXPECT_EQ(words_of("tiny_aya", text), words(tiny_aya, text)) << text;
    EXPECT_EQ(words_of("exaone-moe", text), words(exaone, text)) << text;
  }
}

TEST(Splitter, GroupsDigitsFromTheRightWhereTheFamilyDoes) {
  EXPECT_EQ(words_of("superbpe", "a 1234567b"), (Words{"a ", "1", "234", "567", "b"}));
  EXPECT_EQ(words_of("afmoe", "x1234 12 123456"),
            (Words{"x", "1", "234", " ", "12", " ", "123", "456"}));
  EXPECT_EQ(words_of("tiny_aya", "1234 1234a"), (Words{"1", "234", " ", "123", "4", "a"}));
}

TEST(Splitter, TakesUnicodesWhiteSpace) {
  EXPECT_EQ(words({R"(\s+)"}, "a\u3000\u0085b"), (Words{"a", "\u3000\u0085", "b"}));
  EXPECT_EQ(words({R"(\s+)"}, "a\u180Eb"), (Words{"a\u180Eb"}));
  EXPECT_EQ(words({R"([^\s]+)"}, "a\u180Eb c"), (Words{"a\u180Eb", " ", "c"}));
  EXPECT_EQ(words({R"(\\s)"}, R"(a\sb)"), (Words{"a", R"(\s)", "b"}));
}

TEST(Splitter, KeepsInvalidBytesApart) {
  EXPECT_EQ(words_of("gpt-2", "ab\xFF\xFE cd\xE2\x82"),
            (Words{"ab", "\xFF\xFE", " cd", "\xE2\x82"}));
  EXPECT_EQ(words_of("gpt-2", "\x80"), (Words{"\x80"}));
  EXPECT_EQ(words_of("gpt-2", ""), Words{});
}

TEST(Splitter, IgnoresEmptyMatches) {
  EXPECT_EQ(words({"x*"}, "éaxxb"), (Words{"éa", "xx", "b"}));
  EXPECT_EQ(words({"(?=b)"}, "ab"), (Words{"ab"}));
}

TEST(Splitter, RefusesABrokenPattern) {
  const std::vector<std::string> patterns = {"a", "(b"};
  const auto splitter = Splitter::create(patterns);
  ASSERT_FALSE(splitter);
  EXPECT_EQ(splitter.error().status, HALOGEN_E_INVALID);
  EXPECT_NE(splitter.error().message.find("'(b' is wrong at byte 2"), std::string::npos)
      << splitter.error().message;
  EXPECT_FALSE(Splitter::create({}));
}

}  // namespace
}  // namespace halogen::text
