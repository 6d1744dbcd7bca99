#include "tests/unit/template/oracle.h"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/template/render.h"

namespace halogen::test {

std::optional<std::vector<OracleAnswer>> ask_oracle(const std::vector<std::string>& sources,
                                                    const std::vector<OracleCase>& cases) {
  const auto folder = std::filesystem::path(testing::TempDir());
  const std::string stem = "halogen_oracle_" + std::to_string(getpid());
  const auto request_path = folder / (stem + "_request.json");
  const auto response_path = folder / (stem + "_response.json");
  nlohmann::ordered_json request = {{"now", {2024, 7, 26, 15, 4, 5}}, {"templates", sources}};
  request["cases"] = nlohmann::ordered_json::array();
  for (const OracleCase& test_case : cases) {
    request["cases"].push_back({{"template", test_case.source}, {"context", test_case.context}});
  }
  std::ofstream(request_path) << request.dump();
  const std::string command = std::string("\"") + HALOGEN_ORACLE_PYTHON + "\" \"" +
                              HALOGEN_ORACLE_SCRIPT + "\" \"" + request_path.string() + "\" \"" +
                              response_path.string() + "\"";
  const int status = std::system(command.c_str());
  std::filesystem::remove(request_path);
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) return std::nullopt;
  const auto response = nlohmann::ordered_json::parse(read_file(response_path));
  std::filesystem::remove(response_path);
  std::vector<OracleAnswer> answers;
  for (const auto& answer : response) {
    OracleAnswer converted;
    if (answer.contains("text")) converted.text = answer.at("text").get<std::string>();
    converted.error = answer.value("error", "");
    answers.push_back(std::move(converted));
  }
  return answers;
}

}  // namespace halogen::test
