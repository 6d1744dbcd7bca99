// trim_blocks, lstrip_blocks, the signs in tags, raw blocks and the newline at the end.
#include <gtest/gtest.h>

#include "tests/unit/template/render.h"

namespace halogen::test {
namespace {

TEST(TemplateWhitespace, ABlockTakesTheNewlineAfterIt) {
  EXPECT_EQ(rendered("a\n{% if true %}\nb\n{% endif %}\nc"), "a\nb\nc");
}

TEST(TemplateWhitespace, AVariableKeepsTheNewlineAfterIt) {
  EXPECT_EQ(rendered("{{ 1 }}\n\nx"), "1\n\nx");
}

TEST(TemplateWhitespace, BlanksBeforeABlockThatStartsALineGo) {
  EXPECT_EQ(rendered("a\n  \t{% if true %}b{% endif %}"), "a\nb");
  EXPECT_EQ(rendered("  {% if true %}b{% endif %}"), "b");
}

TEST(TemplateWhitespace, BlanksBeforeABlockAfterTextStay) {
  EXPECT_EQ(rendered("a  {% if true %}b{% endif %}"), "a  b");
}

TEST(TemplateWhitespace, BlanksBeforeAVariableStay) {
  EXPECT_EQ(rendered("a\n  {{ 1 }}"), "a\n  1");
}

TEST(TemplateWhitespace, BlanksBetweenTwoBlocksOnOneLineStay) {
  EXPECT_EQ(rendered("{% if true %} {% if true %}x{% endif %}{% endif %}"), " x");
}

TEST(TemplateWhitespace, BlanksOnTheLineAfterATrimmedNewlineGo) {
  EXPECT_EQ(rendered("{% if true %}\n  {% if true %}x{% endif %}{% endif %}"), "x");
}

TEST(TemplateWhitespace, AMinusTakesAllWhiteSpaceOnItsSide) {
  EXPECT_EQ(rendered("a \n\n {%- if true -%} \n b \n {%- endif -%} \n c"), "abc");
  EXPECT_EQ(rendered("a \n {{- 1 -}} \n b"), "a1b");
  EXPECT_EQ(rendered("a \n {#- note -#} \n b"), "ab");
}

TEST(TemplateWhitespace, APlusKeepsWhatTheRulesWouldTake) {
  EXPECT_EQ(rendered("a\n  {%+ if true +%}\nb{% endif %}"), "a\n  \nb");
}

TEST(TemplateWhitespace, ACommentBehavesLikeABlock) {
  EXPECT_EQ(rendered("a\n  {# x #}\nb"), "a\nb");
}

TEST(TemplateWhitespace, ARawBlockIsCopied) {
  EXPECT_EQ(rendered("{% raw %}{{ x }}{% if %}{# #}{% endraw %}"), "{{ x }}{% if %}{# #}");
  EXPECT_EQ(rendered("a {%- raw -%} \n{{ x }} {%- endraw -%} b"), "a{{ x }}b");
}

TEST(TemplateWhitespace, OneNewlineAtTheEndGoes) {
  EXPECT_EQ(rendered("a\n"), "a");
  EXPECT_EQ(rendered("a\n\n"), "a\n");
}

TEST(TemplateWhitespace, EveryNewlineIsALineFeed) {
  EXPECT_EQ(rendered("a\r\nb\rc\n"), "a\nb\nc");
}

TEST(TemplateWhitespace, WhiteSpaceOfUnicodeIsStripped) {
  EXPECT_EQ(rendered("a\xC2\xA0\xE3\x80\x80{{- 1 }}"), "a1");
}

TEST(TemplateWhitespace, BracesInsideBracketsDoNotEndATag) {
  EXPECT_EQ(rendered("{{ {'a': {'b': 1}}['a']['b'] }}"), "1");
  EXPECT_EQ(rendered("{{ '}}' }}"), "}}");
}

}  // namespace
}  // namespace halogen::test
