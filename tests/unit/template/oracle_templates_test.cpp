// Every chat template of the test data, with conversations of many shapes, against Jinja2.
#include <iostream>

#include <gtest/gtest.h>

#include "tests/unit/template/conversations.h"
#include "tests/unit/template/oracle.h"
#include "tests/unit/template/render.h"

namespace halogen::test {
namespace {

using Json = nlohmann::ordered_json;

// What the template itself says with raise_exception comes through word for word.
void expect_same_refusal(const Error& ours, const std::string& theirs) {
  constexpr std::string_view raised = "TemplateError: ";
  if (!theirs.starts_with(raised)) return;
  EXPECT_TRUE(ours.message.ends_with(": " + theirs.substr(raised.size())))
      << ours.message << "\nJinja2's: " << theirs;
}

void expect_agreement(const std::vector<NamedTemplate>& templates,
                      const std::vector<std::pair<std::string, Json>>& contexts) {
  if (templates.empty()) GTEST_SKIP() << "no templates in " << HALOGEN_TEST_DATA;
  std::vector<std::string> sources;
  std::vector<OracleCase> cases;
  std::vector<std::string> names;
  for (const NamedTemplate& each : templates) {
    for (const auto& [name, context] : contexts) {
      cases.push_back({sources.size(), context});
      names.push_back(each.name + ", " + name);
    }
    sources.push_back(each.source);
  }
  const auto answers = ask_oracle(sources, cases);
  if (!answers) GTEST_SKIP() << "no Python with Jinja2 to compare with";
  std::size_t both_rendered = 0;
  std::size_t both_failed = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(names[i]);
    const auto& expected = answers->at(i);
    const auto ours = render(sources[cases[i].source], cases[i].context);
    if (!expected.text) {
      EXPECT_FALSE(ours.ok()) << "Jinja2 fails with " << expected.error;
      if (!ours) expect_same_refusal(ours.error(), expected.error);
      both_failed += ours.ok() ? 0 : 1;
    } else if (!ours) {
      ADD_FAILURE() << ours.error().message;
    } else {
      EXPECT_EQ(*ours, *expected.text);
      both_rendered += *ours == *expected.text ? 1 : 0;
    }
  }
  std::cout << templates.size() << " templates, " << cases.size() << " cases: " << both_rendered
            << " rendered alike, " << both_failed << " failed alike\n";
  EXPECT_GT(both_rendered, cases.size() / 2);
}

TEST(ChatTemplateOracle, EveryTemplateAgreesWithJinja2) {
  expect_agreement(all_templates(), conversations());
}

TEST(ChatTemplateOracle, EveryTemplateAgreesOnRandomConversations) {
  expect_agreement(all_templates(), random_conversations(20240726, 40));
}

TEST(ChatTemplateOracle, EveryTemplateParses) {
  const auto templates = all_templates();
  if (templates.empty()) GTEST_SKIP() << "no templates in " << HALOGEN_TEST_DATA;
  for (const NamedTemplate& each : templates) {
    const auto parsed = ChatTemplate::parse(each.source);
    EXPECT_TRUE(parsed.ok()) << each.name << ": " << parsed.error().message;
  }
}

}  // namespace
}  // namespace halogen::test
