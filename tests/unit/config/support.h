// A folder that is gone after the test, and profiles loaded from text.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/config/load.h"

namespace halogen::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "halogen-config-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  // Writes the file and returns its path; folders in `name` are made.
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

using Variables = std::map<std::string, std::string>;

inline Environment environment_of(Variables variables) {
  return [variables = std::move(variables)](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found != variables.end() ? std::optional(found->second) : std::nullopt;
  };
}

// With no system file and no variables.
inline Result<Profile> load(const std::vector<std::string>& arguments) {
  return load_profile(arguments, environment_of({}), "/nonexistent/halogen.toml");
}

// The one sentence (or lines) that loading fails with; the test fails where it succeeds.
inline Error error_of(Result<Profile> result) {
  if (!result) return result.error();
  ADD_FAILURE() << "expected an error";
  return Error{HALOGEN_OK, ""};
}

// Loads a file with this text, alone. In error messages the file is called FILE.
class FromText {
 public:
  explicit FromText(const std::string& text, std::vector<std::string> arguments = {}) {
    const std::string file = folder_.write("halogen.toml", text);
    arguments.insert(arguments.begin(), {"--config", file});
    result_ = load(arguments);
    if (result_->ok()) return;
    error_ = result_->error();
    for (std::size_t at = 0; (at = error_.message.find(file, at)) != std::string::npos;)
      error_.message.replace(at, file.size(), "FILE");
  }
  bool ok() const { return result_->ok(); }
  const Profile& profile() const { return result_->value(); }
  std::string message() const { return ok() ? "no error" : error_.message; }
  halogen_status status() const { return ok() ? halogen_status(HALOGEN_OK) : error_.status; }

 private:
  TemporaryFolder folder_;
  std::optional<Result<Profile>> result_;
  Error error_;
};

}  // namespace halogen::test
