// Where halogen's answer is fixed whether or not Jinja2 is there to ask, and where it differs from
// it.
#include <gtest/gtest.h>

#include "tests/unit/template/render.h"

namespace halogen::test {
namespace {

TEST(TemplateExpressions, ToolJsonKeepsItsOrderAndCharacters) {
  const auto context = nlohmann::ordered_json::parse(
      R"({"tools": [{"z": 1, "a": "<é> & 'q'", "m": [1.0, null, true]}]})");
  EXPECT_EQ(rendered("{{ tools | tojson }}", context),
            R"([{"z": 1, "a": "<é> & 'q'", "m": [1.0, null, true]}])");
  EXPECT_EQ(rendered("{{ tools[0].m | tojson(indent=2) }}", context),
            "[\n  1.0,\n  null,\n  true\n]");
}

TEST(TemplateExpressions, StrftimeNowUsesTheGivenTime) {
  EXPECT_EQ(rendered("{{ strftime_now('%d %b %Y, %-d %B %H:%M') }}"), "26 Jul 2024, 26 July 15:04");
}

TEST(TemplateExpressions, TextCountsInCodePoints) {
  EXPECT_EQ(rendered("{{ 'żółw😀'|length }}{{ 'żółw😀'[-2:] }}{{ 'żółw😀'[::-1] }}"), "5w😀😀włóż");
}

TEST(TemplateExpressions, AbsentTokensAreUndefined) {
  const auto parsed = ChatTemplate::parse(
      "{{ bos_token is defined }}{{ eos_token }}{{ tools is none }}{{ add_generation_prompt }}");
  ASSERT_TRUE(parsed.ok());
  TemplateInput input;
  input.eos_token = "</s>";
  input.add_generation_prompt = false;
  EXPECT_EQ(parsed->render(input).value(), "False</s>TrueFalse");
}

TEST(TemplateExpressions, VariablesOverrideWhatRenderSets) {
  EXPECT_EQ(rendered("{{ add_generation_prompt }}", {{"add_generation_prompt", false}}), "False");
}

}  // namespace
}  // namespace halogen::test
