// The files that users read and install agree with the schema. After a change of the schema, run
// this test once with HALOGEN_UPDATE_DOCS=1 and it writes the generated ones again.
#include <cstdlib>
#include <sstream>

#include <gtest/gtest.h>

#include "core/config/manual.h"
#include "core/config/profile_diff.h"
#include "core/config/reference.h"
#include "core/config/schema.h"
#include "tests/unit/config/support.h"

namespace halogen {
namespace {

using test::load;
using test::TemporaryFolder;

const std::string kSource = HALOGEN_SOURCE_DIR;

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void expect_current(const std::string& path, const std::string& generated) {
  if (std::getenv("HALOGEN_UPDATE_DOCS") != nullptr)
    std::ofstream(path, std::ios::binary) << generated;
  EXPECT_EQ(read(path), generated)
      << path << " is not current: run this test with HALOGEN_UPDATE_DOCS=1";
}

// What `--config FILE` gives; `arguments` are added.
Result<Profile> load_shipped(const std::vector<std::string>& arguments) {
  std::vector<std::string> all = {"--config", kSource + "/etc/halogen.toml"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return load(all);
}

TEST(ShippedFiles, TheReferenceIsCurrent) {
  expect_current(kSource + "/docs/configuration.md", configuration_reference());
}

TEST(ShippedFiles, TheManualPagesAreCurrent) {
  expect_current(kSource + "/docs/man/halogen.1", program_manual());
  expect_current(kSource + "/docs/man/halogen.toml.5", profile_manual());
}

TEST(ShippedFiles, TheManualPagesNameEverySettingAndFlag) {
  const std::string program = program_manual();
  const std::string profile = profile_manual();
  for (const Setting& setting : settings()) {
    EXPECT_NE(profile.find("\n.B " + std::string(setting.name()) + "\n"), std::string::npos)
        << setting.key;
    for (const std::string_view flag : setting.flags) {
      std::string written;
      for (const char c : flag) written += c == '-' ? "\\-" : std::string(1, c);
      EXPECT_NE(program.find(written), std::string::npos) << flag;
    }
  }
}

TEST(ShippedFiles, TheDefaultConfigurationIsCurrent) {
  expect_current(kSource + "/etc/halogen.toml", default_config());
}

TEST(ShippedFiles, TheDefaultConfigurationChangesNothing) {
  Result<Profile> profile = load_shipped({});
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_TRUE(profile->origins.empty());
  EXPECT_TRUE(profile->plugin_tables.empty());
}

TEST(ShippedFiles, TheDefaultConfigurationHoldsEveryKeyWithItsDefault) {
  std::string uncommented;
  std::istringstream lines(read(kSource + "/etc/halogen.toml"));
  for (std::string line; std::getline(lines, line);)
    uncommented +=
        (line.starts_with('#') && !line.starts_with("# ") ? line.substr(1) : line) + "\n";
  TemporaryFolder folder;
  Result<Profile> profile = load({"--config", folder.write("all.toml", uncommented)});
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_TRUE(diff_profiles(Profile(), *profile).empty());
  for (const Setting& setting : settings())
    EXPECT_NE(profile->origin(setting.key), "default") << setting.key;
}

TEST(ShippedFiles, EveryProfileIsValidAndSetsWhatItIsNamedFor) {
  Result<Profile> chat = load_shipped({"--profile", "chat-small"});
  ASSERT_TRUE(chat.ok()) << chat.error().message;
  EXPECT_LE(chat->engine.context, 16384u);
  EXPECT_GT(chat->engine.context, 0u);
  Result<Profile> many = load_shipped({"--profile", "many-users"});
  ASSERT_TRUE(many.ok()) << many.error().message;
  EXPECT_GT(many->engine.max_concurrent_requests, Profile().engine.max_concurrent_requests);
  Result<Profile> long_context = load_shipped({"--profile", "long-context"});
  ASSERT_TRUE(long_context.ok()) << long_context.error().message;
  EXPECT_GE(long_context->engine.context, 131072u);
}

TEST(ShippedFiles, NoProfileIsLeftUntested) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kSource + "/etc/profiles"))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names,
            (std::vector<std::string>{"chat-small.toml", "long-context.toml", "many-users.toml"}));
}

}  // namespace
}  // namespace halogen
