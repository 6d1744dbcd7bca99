// The golden files: what transformers rendered for eleven template styles.
#include <gtest/gtest.h>

#include "tests/unit/template/render.h"

namespace halogen::test {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::filesystem::path> golden_files() {
  std::vector<std::filesystem::path> files;
  std::error_code missing;
  const auto folder = std::filesystem::path(HALOGEN_TEST_DATA) / "golden" / "tokenizers";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, missing)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("chat_golden_", 0) == 0 && entry.path().extension() == ".json") {
      files.push_back(entry.path());
    }
  }
  return files;
}

void check_case(const ChatTemplate& chat_template, const Json& golden, const Json& test_case) {
  SCOPED_TRACE(test_case.at("name").get<std::string>());
  Json variables = test_case.at("kwargs");
  TemplateInput input;
  input.messages = &test_case.at("messages");
  input.tools = &test_case.at("tools");
  input.variables = &variables;
  input.add_generation_prompt = variables.value("add_generation_prompt", false);
  input.continue_final_message = variables.value("continue_final_message", false);
  if (golden.at("bos_token").is_string())
    input.bos_token = golden.at("bos_token").get<std::string>();
  if (golden.at("eos_token").is_string())
    input.eos_token = golden.at("eos_token").get<std::string>();
  const auto result = chat_template.render(input);
  if (test_case.contains("error")) {
    EXPECT_FALSE(result.ok()) << "must fail with " << test_case.at("error");
    return;
  }
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(*result, test_case.at("rendered").get<std::string>());
}

TEST(ChatTemplateGolden, RendersWhatTransformersRenders) {
  const auto files = golden_files();
  if (files.empty()) GTEST_SKIP() << "no chat_golden_*.json in " << HALOGEN_TEST_DATA;
  std::size_t cases = 0;
  for (const auto& file : files) {
    SCOPED_TRACE(file.filename().string());
    const Json golden = Json::parse(read_file(file));
    const auto chat_template = ChatTemplate::parse(golden.at("template").get<std::string>());
    ASSERT_TRUE(chat_template.ok()) << chat_template.error().message;
    for (const Json& test_case : golden.at("cases")) {
      check_case(*chat_template, golden, test_case);
      ++cases;
    }
  }
  EXPECT_GE(cases, files.size() * 24);
  RecordProperty("cases", static_cast<int>(cases));
}

}  // namespace
}  // namespace halogen::test
