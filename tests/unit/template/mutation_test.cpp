// Damaged templates must fail or render, never crash or hang: worth most in a sanitizer build.
#include <chrono>
#include <iostream>
#include <random>

#include <gtest/gtest.h>

#include "tests/unit/template/render.h"

namespace halogen::test {
namespace {

using Random = std::mt19937;

std::size_t below(Random& random, std::size_t limit) {
  return std::uniform_int_distribution<std::size_t>(0, limit == 0 ? 0 : limit - 1)(random);
}

// Cuts, copies, swaps and replaces pieces; the fragments are what the lexer and parser look for.
std::string mutate(std::string text, Random& random) {
  static const std::vector<std::string> fragments = {"{%",
                                                     "%}",
                                                     "{{",
                                                     "}}",
                                                     "{#",
                                                     "#}",
                                                     "-%}",
                                                     "{%-",
                                                     "(",
                                                     ")",
                                                     "[",
                                                     "]",
                                                     "{",
                                                     "}",
                                                     "|",
                                                     ".",
                                                     ",",
                                                     ":",
                                                     "'",
                                                     "\"",
                                                     "\\",
                                                     "not ",
                                                     " is ",
                                                     " in ",
                                                     " if ",
                                                     " else ",
                                                     " or ",
                                                     "~",
                                                     "**",
                                                     "//",
                                                     "%",
                                                     "-",
                                                     "*",
                                                     "==",
                                                     "loop",
                                                     "caller()",
                                                     "{% endfor %}",
                                                     "{% endif %}",
                                                     "{% else %}",
                                                     "{% break %}",
                                                     "{% macro f(x=1) %}",
                                                     "{% endmacro %}",
                                                     "{% raw %}",
                                                     "|tojson",
                                                     "|map('upper')",
                                                     "|join",
                                                     "|sort",
                                                     "[::-1]",
                                                     "[1:]",
                                                     "messages",
                                                     "none",
                                                     "\xFF",
                                                     "\xE2\x82",
                                                     "9999999999",
                                                     "range(9)",
                                                     "namespace(",
                                                     "recursive",
                                                     "{% set ",
                                                     "{% filter upper %}",
                                                     "{% call f() %}",
                                                     "1e999",
                                                     "'%s' % "};
  const std::size_t edits = 1 + below(random, 4);
  for (std::size_t i = 0; i < edits && !text.empty(); ++i) {
    const std::size_t at = below(random, text.size());
    const std::size_t size = 1 + below(random, std::min<std::size_t>(text.size() - at, 40));
    switch (below(random, 6)) {
      case 0:
        text.resize(at);
        break;
      case 1:
        text.erase(at, size);
        break;
      case 2:
        text.insert(at, fragments[below(random, fragments.size())]);
        break;
      case 3:
        text.insert(below(random, text.size()), text.substr(at, size));
        break;
      case 4:
        text.replace(at, size, fragments[below(random, fragments.size())]);
        break;
      default:
        text[at] = static_cast<char>(below(random, 256));
        break;
    }
  }
  return text;
}

TEST(TemplateMutation, DamagedTemplatesNeverCrash) {
  const auto files = template_files();
  if (files.empty()) GTEST_SKIP() << "no templates in " << HALOGEN_TEST_DATA;
  const auto context = nlohmann::ordered_json::parse(R"({
    "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "<think>ü</think> hi"},
      {"role": "assistant", "content": "", "tool_calls": [{"id": "abcdefghi", "type": "function",
        "function": {"name": "f", "arguments": {"a": [1, 2.5, null, true]}}}]},
      {"role": "tool", "name": "f", "tool_call_id": "abcdefghi", "content": "r"}],
    "tools": [{"type": "function", "function": {"name": "f", "description": "d", "parameters":
      {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}}}}],
    "bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": true})");
  std::vector<std::string> sources;
  for (const auto& file : files) sources.push_back(read_file(file));
  jinja::Limits limits;
  limits.steps = 200'000;
  limits.memory_bytes = 32 << 20;
  Random random(20240726);
  int rendered_count = 0;
  int failed_count = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (int i = 0; i < 5000 && std::chrono::steady_clock::now() < end; ++i) {
    const auto result =
        render(mutate(sources[below(random, sources.size())], random), context, limits);
    ++(result.ok() ? rendered_count : failed_count);
    if (result) continue;
    EXPECT_NE(result.error().message.find("line "), std::string::npos) << result.error().message;
  }
  std::cout << rendered_count << " damaged templates rendered, " << failed_count << " failed\n";
  EXPECT_GT(rendered_count, 0);
  EXPECT_GT(failed_count, 0);
}

}  // namespace
}  // namespace halogen::test
