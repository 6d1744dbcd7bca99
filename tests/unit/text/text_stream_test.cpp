#include "core/text/text_stream.h"

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/text/small_vocabulary.h"

namespace halogen::text {
namespace {

using testing::add_token;
using testing::byte_level_vocabulary;
using testing::in_byte_alphabet;
using testing::make_tokenizer;
using testing::sentence_piece_vocabulary;

// A tokenizer that has every part of `text` as a token, so that a text can be cut anywhere.
std::unique_ptr<Tokenizer> tokenizer_of_parts(const std::string& text) {
  Vocabulary vocabulary = byte_level_vocabulary();
  for (size_t begin = 0; begin < text.size(); ++begin) {
    for (size_t length = 2; begin + length <= text.size(); ++length) {
      add_token(vocabulary, in_byte_alphabet(text.substr(begin, length)), TokenType::kNormal);
    }
  }
  add_token(vocabulary, "<|end|>", TokenType::kControl);
  return make_tokenizer(vocabulary);
}

// Calls each(parts) for every way to cut `text` into parts: bit i of the counter cuts behind byte
// i.
template <typename Each>
void for_each_partition(const std::string& text, const Each& each) {
  for (uint32_t cuts = 0; cuts < 1U << (text.size() - 1); ++cuts) {
    std::vector<std::string> parts(1);
    for (size_t i = 0; i < text.size(); ++i) {
      parts.back().push_back(text[i]);
      if ((cuts >> i & 1U) != 0) parts.emplace_back();
    }
    each(parts);
  }
}

TokenId id_of_part(const Tokenizer& tokenizer, const std::string& part) {
  const TokenId id = tokenizer.id_of(in_byte_alphabet(part));
  EXPECT_NE(id, kNoToken);
  return id;
}

// Where a text stops, by definition: the earliest end of a stop string, and there the longest.
struct Stop {
  size_t string;
  size_t end;
};

std::optional<Stop> stop_by_definition(const std::string& text,
                                       const std::vector<std::string>& stops) {
  for (size_t end = 1; end <= text.size(); ++end) {
    std::optional<Stop> found;
    for (size_t i = 0; i < stops.size(); ++i) {
      if (stops[i].empty() || !text.substr(0, end).ends_with(stops[i])) continue;
      if (!found || stops[i].size() > stops[found->string].size()) found = Stop{i, end};
    }
    if (found) return found;
  }
  return {};
}

// How much of `text` may still become part of a stop string.
size_t held_by_definition(const std::string& text, const std::vector<std::string>& stops) {
  size_t held = 0;
  for (const std::string& stop : stops) {
    for (size_t length = 1; length < stop.size() && length <= text.size(); ++length) {
      if (text.ends_with(stop.substr(0, length))) held = std::max(held, length);
    }
  }
  return held;
}

// Streams the parts and checks every returned text against the definitions.
void check_stream(const Tokenizer& tokenizer, const std::vector<std::string>& parts,
                  const std::vector<std::string>& stops, bool include_stop) {
  TextStream stream(tokenizer, {.stop = stops, .include_stop = include_stop});
  std::string fed;
  std::string got;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    const std::string_view text = stream.push(id_of_part(tokenizer, part));
    EXPECT_EQ(valid_prefix(text), text.size());
    got += text;
    if (stream.stop()) break;
    fed += part;
    const std::string complete = fed.substr(0, complete_prefix(fed));
    EXPECT_EQ(got, complete.substr(0, complete.size() - held_by_definition(complete, stops)));
    EXPECT_EQ(stream.held(), fed.size() - got.size());
  }
  got += stream.finish();

  std::string whole;
  for (const std::string& part : parts) whole += part;
  const std::optional<Stop> stop = stop_by_definition(whole, stops);
  if (!stop) {
    EXPECT_FALSE(stream.stop());
    EXPECT_EQ(got, whole);
    return;
  }
  EXPECT_EQ(stream.stop(), stop->string);
  EXPECT_EQ(got,
            whole.substr(0, include_stop ? stop->end : stop->end - stops[stop->string].size()));
  EXPECT_EQ(stream.push('a'), "");
  EXPECT_EQ(stream.finish(), "");
}

TEST(TextStream, NeverReturnsHalfACharacterHoweverTheTextIsCut) {
  const std::string text = "aé€😀é!";
  const auto tokenizer = tokenizer_of_parts(text);
  for_each_partition(text, [&](const auto& parts) { check_stream(*tokenizer, parts, {}, false); });
}

TEST(TextStream, FindsStopStringsAcrossTokensHoweverTheTextIsCut) {
  const std::string text = "ab€aab€aba";
  const auto tokenizer = tokenizer_of_parts(text);
  const std::vector<std::vector<std::string>> stop_lists = {
      {"aab"}, {"€ab"},     {"€aba", "ba"},       {"b€aab€abb"}, {"ab€ab", "€aab", ""},
      {"€"},   {"zz", "a"}, {"aba", "ba", "€aba"}};
  for (const auto& stops : stop_lists) {
    for_each_partition(text, [&](const auto& parts) {
      check_stream(*tokenizer, parts, stops, false);
      check_stream(*tokenizer, parts, stops, true);
    });
  }
}

TEST(TextStream, AgreesWithTheDefinitionOnRandomTextsAndStops) {
  const auto tokenizer = make_tokenizer(byte_level_vocabulary());
  std::mt19937 random(5);
  const auto letters = [&](size_t count) {
    std::string text;
    for (size_t i = 0; i < count; ++i) text.push_back("ab"[random() % 2]);
    return text;
  };
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> stops(1 + random() % 3);
    for (std::string& stop : stops) stop = letters(random() % 7);
    std::vector<std::string> parts;
    for (const char letter : letters(30)) parts.emplace_back(1, letter);
    check_stream(*tokenizer, parts, stops, round % 2 == 0);
  }
}

TEST(TextStream, RepairsWhatIsNotUtf8) {
  const auto tokenizer = make_tokenizer(byte_level_vocabulary());
  TextStream stream(*tokenizer, {.stop = {"\uFFFD\uFFFD"}});
  EXPECT_EQ(stream.push(0xE2), "");
  EXPECT_EQ(stream.push('a'), "\uFFFDa");
  EXPECT_EQ(stream.push(0x80), "");  // one U+FFFD, which may be the first of two
  EXPECT_EQ(stream.push('b'), "\uFFFDb");
  EXPECT_EQ(stream.push(0xF0), "");
  EXPECT_EQ(stream.push(0x9F), "");
  EXPECT_EQ(stream.finish(), "\uFFFD");
  EXPECT_EQ(stream.finish(), "");
  EXPECT_EQ(stream.push('a'), "");
}

TEST(TextStream, FindsAStopStringThatTheEndCompletes) {
  const auto tokenizer = make_tokenizer(byte_level_vocabulary());
  TextStream stream(*tokenizer, {.stop = {"a\uFFFD"}});
  EXPECT_EQ(stream.push('x'), "x");
  EXPECT_EQ(stream.push('a'), "");
  EXPECT_EQ(stream.push(0xE2), "");
  EXPECT_EQ(stream.finish(), "");
  EXPECT_EQ(stream.stop(), 0U);
}

TEST(TextStream, ShowsControlTokensOnlyWhenAsked) {
  const auto tokenizer = tokenizer_of_parts("ab");
  const TokenId end = tokenizer->id_of("<|end|>");
  TextStream hidden(*tokenizer, {.stop = {"ab"}});
  EXPECT_EQ(hidden.push('a'), "");
  EXPECT_EQ(hidden.push(end), "");
  EXPECT_EQ(hidden.push('b'), "");
  EXPECT_TRUE(hidden.stop());
  TextStream shown(*tokenizer, {.skip_special = false});
  EXPECT_EQ(shown.push(end), "<|end|>");
  EXPECT_EQ(shown.push(123456), "");
}

TEST(TextStream, KeepsTheSpaceThatAGenerationBeginsWith) {
  const auto tokenizer = make_tokenizer(sentence_piece_vocabulary({{"▁a", -1}}));
  TextStream stream(*tokenizer, {});
  EXPECT_EQ(stream.push(tokenizer->id_of("▁a")), " a");
  EXPECT_EQ(stream.push(tokenizer->id_of("<0xC3>")), "");
  EXPECT_EQ(stream.push(tokenizer->id_of("<0xA9>")), "é");
}

}  // namespace
}  // namespace halogen::text
