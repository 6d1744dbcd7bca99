// Statements: loops, scopes, macros, call and filter blocks, and what errors say.
#include <thread>

#include <gtest/gtest.h>

#include "tests/unit/template/render.h"

namespace halogen::test {
namespace {

TEST(TemplateStatements, AVariableSetInALoopEndsWithTheIteration) {
  EXPECT_EQ(
      rendered(
          "{% set x = 1 %}{% for i in [2, 3] %}{{ x }}{% set x = i %}{{ x }}{% endfor %}{{ x }}"),
      "12131");
}

TEST(TemplateStatements, ANamespaceOutlivesTheLoop) {
  EXPECT_EQ(rendered("{% set ns = namespace(x=1) %}{% for i in [2, 3] %}{% set ns.x = ns.x + i "
                     "%}{% endfor %}{{ ns.x }}"),
            "6");
}

TEST(TemplateStatements, AnIfHasNoScopeOfItsOwn) {
  EXPECT_EQ(rendered("{% if true %}{% set x = 1 %}{% endif %}{{ x }}"), "1");
}

TEST(TemplateStatements, TheLoopVariableKnowsItsNeighbours) {
  EXPECT_EQ(rendered("{% for i in 'abc' %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ "
                     "loop.revindex0 }}"
                     "{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.previtem }}{{ "
                     "loop.nextitem }};{% endfor %}"),
            "1032TrueFalse3b;2121FalseFalse3ac;3210FalseTrue3b;");
}

TEST(TemplateStatements, BreakAndContinue) {
  EXPECT_EQ(rendered("{% for i in range(9) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 4 "
                     "%}{% break %}{% endif %}"
                     "{{ i }}{% endfor %}"),
            "023");
}

TEST(TemplateStatements, AMacroSeesItsDefinitionsScope) {
  EXPECT_EQ(rendered("{% macro f(a, b=2) %}{{ a }}{{ b }}{{ x }}{{ varargs }}{{ kwargs }}{% "
                     "endmacro %}{% set x = 9 %}"
                     "{{ f(1, 3, 4, k=5) }}"),
            "139(4,){'k': 5}");
}

TEST(TemplateStatements, ACallBlockPassesItsBody) {
  EXPECT_EQ(rendered("{% macro box() %}[{{ caller('x') }}]{% endmacro %}{% call(v) box() %}{{ v "
                     "}}{{ v }}{% endcall %}"),
            "[xx]");
}

TEST(TemplateStatements, AFilterBlockFiltersItsBody) {
  EXPECT_EQ(rendered("{% filter upper|replace('B', '-') %}abc{% endfilter %}"), "A-C");
}

TEST(TemplateStatements, ABlockCanBeSet) {
  EXPECT_EQ(rendered("{% set x | trim %} a {% endset %}<{{ x }}>"), "<a>");
}

TEST(TemplateStatements, GenerationMarksAreIgnored) {
  EXPECT_EQ(rendered("{% generation %}a{{ 1 }}{% endgeneration %}b"), "a1b");
}

TEST(TemplateStatements, ARecursiveLoopCallsItself) {
  EXPECT_EQ(rendered("{% for x in [[1, [2]], 3] recursive %}{% if x is iterable %}({{ loop(x) "
                     "}}){% else %}{{ x }}"
                     "{{ loop.depth }}{% endif %}{% endfor %}"),
            "(12(23))31");
}

TEST(TemplateStatements, OtherTemplatesAreRefused) {
  for (const char* tag : {"include 'a'", "import 'a' as b", "from 'a' import b", "extends 'a'"}) {
    EXPECT_NE(rendered(std::string("{% ") + tag + " %}").find("a chat template stands alone"),
              std::string::npos);
  }
}

TEST(TemplateStatements, ErrorsNameTheLineAndTheCause) {
  EXPECT_EQ(rendered("a\nb\n{{ raise_exception('roles must alternate') }}"),
            "ERROR: chat template, line 3: roles must alternate");
  EXPECT_EQ(rendered("\n{{ x.y }}"), "ERROR: chat template, line 2: 'x' is undefined");
  EXPECT_EQ(rendered("\n\n{% if true %}"),
            "ERROR: chat template, line 3: the 'if' opened here is not closed with 'endif'");
  EXPECT_EQ(rendered("{{ 1 +\n'a' }}"),
            "ERROR: chat template, line 1: unsupported operand types for +: 'int' and 'str'");
  EXPECT_EQ(rendered("\n{{ [].append(1) }}"),
            "ERROR: chat template, line 2: templates may not change a list with 'append'; build a "
            "new one");
  EXPECT_EQ(rendered("{{ 1 | nonsense }}"),
            "ERROR: chat template, line 1: there is no filter named 'nonsense'");
}

TEST(TemplateStatements, OneTemplateRendersOnManyThreads) {
  const auto parsed = ChatTemplate::parse(
      "{% macro f(n) %}{{ 'ab'|upper * n }}{% endmacro %}{% for m in messages %}{{ f(loop.index) "
      "}}{{ m.content }}{% endfor %}");
  ASSERT_TRUE(parsed.ok());
  const auto messages = nlohmann::ordered_json::parse(R"([{"content": "x"}, {"content": "y"}])");
  std::vector<std::string> results(4);
  std::vector<std::thread> threads;
  for (std::string& result : results) {
    threads.emplace_back([&] {
      TemplateInput input;
      input.messages = &messages;
      for (int i = 0; i < 50; ++i) result = parsed->render(input).value();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& result : results) EXPECT_EQ(result, "ABxABABy");
}

}  // namespace
}  // namespace halogen::test
