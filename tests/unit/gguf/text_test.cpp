#include "plugins/gguf/text.h"

#include <gtest/gtest.h>

namespace halogen::gguf {
namespace {

TEST(GgufText, AcceptsWellFormedUtf8) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("blk.0.attn_q.weight"));
  EXPECT_TRUE(is_utf8("\xC2\x80 \xE0\xA0\x80 \xED\x9F\xBF \xF0\x90\x80\x80 \xF4\x8F\xBF\xBF"));
}

TEST(GgufText, RefusesWhatIsNotUtf8) {
  for (const char* text :
       {"\x80", "\xC1\x80", "\xC3\x28", "\xC3", "\xE0\x9F\x80", "\xED\xA0\x80", "\xF0\x8F\x80\x80",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82"}) {
    EXPECT_FALSE(is_utf8(text)) << in_quotes(text);
  }
}

TEST(GgufText, QuotesHostileNamesForALog) {
  EXPECT_EQ(in_quotes("a.b"), "'a.b'");
  EXPECT_EQ(in_quotes("a\nb\xFF"), "'a\\x0ab\\xff'");
  EXPECT_EQ(in_quotes(std::string(100, 'x')), "'" + std::string(80, 'x') + "...'");
}

TEST(GgufText, ConcatenatesTextsAndNumbers) {
  EXPECT_EQ(concat("byte ", 18446744073709551615ULL, " of ", -3, std::string(".")),
            "byte 18446744073709551615 of -3.");
}

}  // namespace
}  // namespace halogen::gguf
