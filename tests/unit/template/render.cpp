#include "tests/unit/template/render.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace halogen::test {

std::tm fixed_time() {
  std::tm time{};
  time.tm_year = 2024 - 1900;
  time.tm_mon = 6;
  time.tm_mday = 26;
  time.tm_hour = 15;
  time.tm_min = 4;
  time.tm_sec = 5;
  time.tm_wday = 5;
  time.tm_yday = 207;
  return time;
}

Result<std::string> render(const std::string& source, const nlohmann::ordered_json& context,
                           const jinja::Limits& limits) {
  auto parsed = ChatTemplate::parse(source);
  if (!parsed) return parsed.error();
  const auto find = [&](const char* key) {
    return context.contains(key) ? &context.at(key) : nullptr;
  };
  TemplateInput input;
  input.messages = find("messages");
  input.tools = find("tools");
  input.documents = find("documents");
  input.variables = &context;
  input.local_time = fixed_time();
  return parsed->render(input, limits);
}

std::string rendered(const std::string& source, const nlohmann::ordered_json& context) {
  auto result = render(source, context);
  return result ? *result : "ERROR: " + result.error().message;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::filesystem::path> template_files() {
  std::vector<std::filesystem::path> files;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(HALOGEN_TEST_DATA) / "templates", missing)) {
    if (entry.path().extension() == ".jinja") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace halogen::test
