#include "core/text/utf8.h"

#include <string>

#include <gtest/gtest.h>

namespace halogen::text {
namespace {

TEST(Utf8, ReadsTheFirstAndLastCharacterOfEachLength) {
  const struct {
    std::string_view text;
    uint32_t code_point;
  } cases[] = {{{"\0", 1}, 0},
               {"\x7F", 0x7F},
               {"\xC2\x80", 0x80},
               {"\xDF\xBF", 0x7FF},
               {"\xE0\xA0\x80", 0x800},
               {"\xED\x9F\xBF", 0xD7FF},
               {"\xEE\x80\x80", 0xE000},
               {"\xEF\xBF\xBF", 0xFFFF},
               {"\xF0\x90\x80\x80", 0x10000},
               {"\xF4\x8F\xBF\xBF", 0x10FFFF}};
  for (const auto& [text, code_point] : cases) {
    const Utf8Character character = read_character(text);
    EXPECT_EQ(character.state, Utf8::kValid);
    EXPECT_EQ(character.length, text.size());
    EXPECT_EQ(character.code_point, code_point);
    std::string written;
    append_character(code_point, written);
    EXPECT_EQ(written, text);
  }
}

TEST(Utf8, RefusesOverlongFormsSurrogatesAndValuesPastTheEnd) {
  for (const std::string_view text :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    EXPECT_EQ(read_character(text).state, Utf8::kInvalid);
    EXPECT_EQ(read_character(text).length, 1U);
    EXPECT_EQ(valid_prefix(text), 0U);
  }
}

TEST(Utf8, ReplacesMaximalSubparts) {
  // The Unicode standard's own example (table 3-8).
  EXPECT_EQ(sanitized("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64"),
            "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd");
  EXPECT_EQ(sanitized("\xE2\x82"), "\uFFFD");
  EXPECT_EQ(sanitized("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(sanitized("plain text, 16 bytes and more: é€😀"),
            "plain text, 16 bytes and more: é€😀");
  EXPECT_EQ(sanitized(""), "");
}

TEST(Utf8, FindsWhereTheValidPartEnds) {
  EXPECT_EQ(valid_prefix("0123456789abcdef\xFF"), 16U);
  EXPECT_EQ(valid_prefix("0123456789é\xE2\x82"), 12U);
  EXPECT_EQ(valid_prefix("0123456789é"), 12U);
}

TEST(Utf8, HoldsBackOnlyACharacterThatMayBecomeWhole) {
  EXPECT_EQ(complete_prefix(""), 0U);
  EXPECT_EQ(complete_prefix("ab"), 2U);
  EXPECT_EQ(complete_prefix("a\xC3"), 1U);
  EXPECT_EQ(complete_prefix("a\xF0\x9F\x98"), 1U);
  EXPECT_EQ(complete_prefix("a\xF0\x9F\x98\x80"), 5U);
  EXPECT_EQ(complete_prefix("a\xE0\x80"), 3U);         // broken already
  EXPECT_EQ(complete_prefix("\x80\x80\x80\x80"), 4U);  // belongs to nothing
  EXPECT_EQ(complete_prefix("\xC3\xF0\x9F"), 1U);
}

TEST(Utf8, RepairsAStreamAsItRepairsTheWhole) {
  const std::string text = "é\xE2\x82z\xF0\x9F\x98\x80\xF0\x9F\xC3\xA9\xED\xA0\x80\xFF€\xE2";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    std::string repaired;
    const std::string first = text.substr(0, cut);
    const size_t complete = complete_prefix(first);
    append_sanitized(first.substr(0, complete), repaired);
    append_sanitized(text.substr(complete), repaired);
    EXPECT_EQ(repaired, sanitized(text)) << "cut at " << cut;
  }
}

}  // namespace
}  // namespace halogen::text
