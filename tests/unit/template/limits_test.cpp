// What untrusted templates must not be able to do.
#include <chrono>

#include <gtest/gtest.h>

#include "tests/unit/template/render.h"

namespace halogen::test {
namespace {

std::string repeat(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

// The template must fail, and say why in words that contain `reason`.
void expect_stopped(const std::string& source, const std::string& reason) {
  const auto start = std::chrono::steady_clock::now();
  const auto result = render(source);
  const auto seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ASSERT_FALSE(result.ok()) << source.substr(0, 200);
  EXPECT_EQ(result.error().status, HALOGEN_E_INVALID);
  EXPECT_NE(result.error().message.find(reason), std::string::npos) << result.error().message;
  EXPECT_LT(seconds, 60) << source.substr(0, 200);
}

TEST(TemplateLimits, ARangeIsAsLongAsTheSandboxAllows) {
  expect_stopped("{% for i in range(10**9) %}{% endfor %}", "at most 100000 items");
  EXPECT_EQ(rendered("{{ range(100000)|length }}"), "100000");
}

TEST(TemplateLimits, NestedLoopsRunOutOfSteps) {
  expect_stopped(
      "{% for i in range(100000) %}{% for j in range(100000) %}{% set x = i * j %}{% endfor %}{% "
      "endfor %}",
      "runs too long");
}

TEST(TemplateLimits, WorkInsideBuiltinsCounts) {
  expect_stopped("{% for i in range(100000) %}{% set x = range(100000)|sum %}{% endfor %}", "too");
  expect_stopped(
      "{% set l = range(100000)|list %}{% for i in range(100000) %}{% set x = -1 in l %}{% endfor "
      "%}",
      "too");
}

TEST(TemplateLimits, RecursionOfMacrosIsBounded) {
  expect_stopped("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "recurses too deeply");
  expect_stopped("{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}", "recurses too deeply");
}

TEST(TemplateLimits, NestingInTheSourceIsBounded) {
  expect_stopped("{{ " + repeat("(", 5000) + "1" + repeat(")", 5000) + " }}", "too deeply");
  expect_stopped("{{ " + repeat("[", 5000) + repeat("]", 5000) + " }}", "too deeply");
  expect_stopped("{{ " + repeat("not ", 50000) + "1 }}", "too deeply");
  expect_stopped("{{ " + repeat("-", 50000) + "1 }}", "too deeply");
  expect_stopped("{{ 1" + repeat(" + 1", 50000) + " }}", "too deeply");
  expect_stopped("{{ 'a'" + repeat("|upper", 50000) + " }}", "too deeply");
  expect_stopped("{{ a" + repeat(".b", 50000) + " }}", "too deeply");
  expect_stopped("{{ 1" + repeat(" if 1 else 1", 50000) + " }}", "too deeply");
  expect_stopped(repeat("{% if 1 %}", 50000), "too deeply");
  expect_stopped("{% set " + repeat("(", 5000) + "a" + repeat(")", 5000) + " = 1 %}", "too deeply");
}

TEST(TemplateLimits, LongButFlatSourcesAreFine) {
  EXPECT_EQ(rendered("{{ ''" + repeat(" ~ 'a'", 5000) + " }}"), repeat("a", 5000));
  EXPECT_EQ(rendered("{% if 0 %}" + repeat("{% elif 0 %}", 5000) + "{% else %}x{% endif %}"), "x");
}

TEST(TemplateLimits, TextCannotGrowWithoutBound) {
  expect_stopped("{{ 'x' * 10**12 }}", "too");
  expect_stopped("{{ 'abc' * 9223372036854775807 }}", "too");
  expect_stopped(
      "{% set ns = namespace(s='x') %}{% for i in range(64) %}{% set ns.s = ns.s ~ ns.s %}{% "
      "endfor %}",
      "too");
  expect_stopped("{{ 'x'|center(10**15) }}", "too");
  expect_stopped("{{ '%9999999999d' % 1 }}", "too large");
  expect_stopped("{{ '{:9999999999}'.format(1) }}", "too large");
  expect_stopped("{{ ('a' * 100000).replace('', 'b' * 100000) }}", "too");
  expect_stopped("{{ [1] * 10**12 }}", "too");
  expect_stopped("{{ [[]]|batch(10**12, 0)|list }}", "too");
}

TEST(TemplateLimits, TheOutputIsBounded) {
  jinja::Limits limits;
  limits.output_bytes = 1000;
  const auto result = render("{{ 'x' * 1001 }}", nlohmann::ordered_json::object(), limits);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("more than 1000 bytes"), std::string::npos);
  EXPECT_TRUE(render("{{ 'x' * 1000 }}", nlohmann::ordered_json::object(), limits).ok());
}

TEST(TemplateLimits, DeepAndCyclicValuesAreSafe) {
  const std::string deep =
      "{% set ns = namespace(x=[]) %}{% for i in range(50000) %}{% set ns.x = [ns.x] %}{% endfor "
      "%}";
  EXPECT_EQ(rendered(deep), "");
  expect_stopped(deep + "{{ ns.x }}", "too deeply");
  expect_stopped(deep + "{{ ns.x|tojson }}", "too deeply");
  expect_stopped(deep + "{% set a = ns.x %}" + deep + "{{ ns.x == a }}", "too deeply");
  expect_stopped("{% set ns = namespace() %}{% set ns.me = [ns] %}{{ ns }}", "too deeply");
  expect_stopped(
      "{% set ns = namespace(x=[1]) %}{% for i in range(64) %}{% set ns.x = [ns.x, ns.x] %}{% "
      "endfor %}{{ ns.x }}",
      "too");
}

TEST(TemplateLimits, IntegersDoNotOverflow) {
  for (const char* expression :
       {"9223372036854775807 + 1", "-9223372036854775807 - 2", "9223372036854775807 * 2", "2 ** 64",
        "10 ** 400", "-(-9223372036854775807 - 1)", "(-9223372036854775807 - 1) // -1",
        "(-9223372036854775807 - 1)|abs", "9223372036854775808", "'9223372036854775808'|int",
        "1e300|int"}) {
    expect_stopped(std::string("{{ ") + expression + " }}", "64");
  }
  EXPECT_EQ(rendered("{{ (-9223372036854775807 - 1) % -1 }}"), "0");
  EXPECT_EQ(
      rendered("{{ 'abc'[-9223372036854775807 - 1:9223372036854775807:9223372036854775807] }}"),
      "a");
  EXPECT_EQ(rendered("{{ range(9223372036854775800, 9223372036854775807)[-1] }}"),
            "9223372036854775806");
}

// What a template's author or a server's operator reads: the line, and the limit that was met.
TEST(TemplateLimits, EveryLimitIsNamedWithItsLine) {
  const std::string steps =
      "the template runs too long, more than 8000000 steps; does it loop without end?";
  const std::string memory = "the template uses too much memory, more than 536870912 bytes";
  const std::string depth = "the template nests or recurses too deeply, more than 1000 levels";
  const std::string nesting = "the template nests too deeply, more than 150 levels";
  const std::string tree = "an expression is too long or nests too deeply, more than 600 levels";
  const std::pair<std::string, std::string> hostile[] = {
      {"{% for i in range(10**9) %}{% endfor %}", "a range may have at most 100000 items"},
      {"{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}", memory},
      {"{% for i in range(99999) %}{{ range(99999)|list|length }}{% endfor %}", steps},
      {"{% set ns = namespace(s='x') %}{% for i in range(64) %}{% set ns.s = ns.s + ns.s %}{% "
       "endfor %}",
       memory},
      {"{% set ns = namespace(s='x') %}{% for i in range(99999) %}{% set ns.s = ns.s ~ 'y' * 99 %}"
       "{% endfor %}",
       steps},
      {"{% set ns = namespace(l=[]) %}{% for i in range(99999) %}{% set ns.l = ns.l + [i] %}{% "
       "endfor %}",
       steps},
      {"{% macro f(n) %}{{ f(n + 1) }}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}", depth},
      {"{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(64) }}",
       steps},
      {"{{ 'x' * 10**9 }}", memory},
      {"{{ 'x' * 9223372036854775807 }}", memory},
      {"{{ 9**9**9 }}", "an integer does not fit in 64 bits"},
      {"{{ 9.0**999 }}", "the result of ** is too large"},
      {"{{ " + repeat("(", 999) + repeat(")", 999) + " }}", nesting},
      {repeat("{% if 1 %}", 999), nesting},
      {"{{ 1" + repeat("+1", 999) + " }}", tree},
      {"{{ ('ab' * 9999)|replace('a', 'b' * 99999) }}", steps},
      {"{% set s = 'x' * 99999 %}{% for i in range(9999) %}{{ s }}{% endfor %}",
       "the template writes more than 67108864 bytes"},
      {"{{ '%9999999999s' % 1 }}", "a width or precision in a format string is too large"},
  };
  for (const auto& [source, reason] : hostile) {
    const auto result = render("line 1\nline 2\n" + source);
    ASSERT_FALSE(result.ok()) << source.substr(0, 200);
    EXPECT_EQ(result.error().message, "chat template, line 3: " + reason) << source.substr(0, 200);
  }
}

// A million variables, each looked up as often as the steps allow, must not take a million times as
// long as one; nor must as many scopes as fit into each other.
TEST(TemplateLimits, ManyVariablesAndScopesCostTheirShare) {
  std::string variables;
  for (int i = 0; i < 40'000; ++i) variables += "{% set v" + std::to_string(i) + "=1 %}";
  EXPECT_EQ(rendered(variables + "{{ v0 + v39999 }}"), "2");
  expect_stopped(variables +
                     "{% for i in range(99999) %}{% for j in range(99999) %}{{ v39999 }}{% endfor "
                     "%}{% endfor %}",
                 "runs too long");
  const std::string deep = repeat("{% with a = 1 %}", 140);
  expect_stopped("{% set x = 1 %}" + deep +
                     "{% for i in range(99999) %}{% for j in range(99999) %}{% set y = x %}"
                     "{% endfor %}{% endfor %}" +
                     repeat("{% endwith %}", 140),
                 "runs too long");
}

TEST(TemplateLimits, InvalidUtf8PassesThrough) {
  EXPECT_EQ(rendered("a\xFF{{ '\xC3'|length }}{{ '\xFF\xFE'|upper }}"),
            "a\xFF"
            "1\xFF\xFE");
}

}  // namespace
}  // namespace halogen::test
