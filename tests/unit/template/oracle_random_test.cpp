// Random templates against Jinja2: the same text, or a failure on both sides.
#include <algorithm>
#include <iostream>

#include <gtest/gtest.h>

#include "tests/unit/template/oracle.h"
#include "tests/unit/template/random_templates.h"
#include "tests/unit/template/render.h"

namespace halogen::test {
namespace {

// More with HALOGEN_RANDOM_TEMPLATES=N, other ones with HALOGEN_RANDOM_SEED=N.
std::size_t from_environment(const char* name, std::size_t otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::stoul(value) : otherwise;
}

// What is known to differ and stays so.
bool excused(const std::string& ours, const OracleAnswer& theirs) {
  // Python's integers have no bound.
  if (ours.find("does not fit in") != std::string::npos) return true;
  // Generators, macros and methods print as the addresses of objects.
  return theirs.text && theirs.text->find(" at 0x") != std::string::npos;
}

TEST(TemplateOracle, RandomTemplatesAgreeWithJinja2) {
  const auto context = nlohmann::ordered_json::parse(R"({
    "messages": [{"role": "user", "content": "Hi there", "n": 3}, {"role": "assistant", "content": "", "k": 1},
                 {"role": "user", "content": " é ", "k": 2}],
    "n": 5, "flag": true, "nothing": null, "words": "two words", "pairs": [["a", 1], ["b", 2]]})");
  const std::size_t count = from_environment("HALOGEN_RANDOM_TEMPLATES", 4000);
  RandomTemplates templates(
      static_cast<std::uint32_t>(from_environment("HALOGEN_RANDOM_SEED", 20240726)));
  std::vector<std::string> sources;
  std::vector<OracleCase> cases;
  for (std::size_t i = 0; i < count; ++i) {
    sources.push_back(templates.next());
    cases.push_back({i, context});
  }
  const auto answers = ask_oracle(sources, cases);
  if (!answers) GTEST_SKIP() << "no Python with Jinja2 to compare with";
  std::size_t rendered_alike = 0;
  std::size_t failed_alike = 0;
  std::size_t differ = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto ours = render(sources[i], context);
    const OracleAnswer& theirs = answers->at(i);
    const std::string shown = ours ? *ours : "(fails) " + ours.error().message;
    if (ours && theirs.text && *ours == *theirs.text) {
      ++rendered_alike;
    } else if (!ours && !theirs.text) {
      ++failed_alike;
    } else if (!excused(shown, theirs) && ++differ <= 20) {
      ADD_FAILURE() << sources[i] << "\nours:    " << shown
                    << "\nJinja2's: " << (theirs.text ? *theirs.text : "(fails) " + theirs.error);
    }
  }
  std::cout << rendered_alike << " of " << count << " rendered alike, " << failed_alike
            << " failed alike\n";
  EXPECT_EQ(differ, 0);
  EXPECT_GT(rendered_alike, count / 3);
}

}  // namespace
}  // namespace halogen::test
