#include "core/host/search_path.h"

#include "fixture.h"

namespace halogen::test {
namespace {

std::vector<std::string> shown(const SearchPathInputs& inputs) {
  const auto folders = make_search_path(inputs);
  if (!folders) return {folders.error().message};
  std::vector<std::string> lines;
  for (const auto& folder : *folders)
    lines.push_back(folder.origin + ' ' + folder.manifests.string());
  return lines;
}

TEST(SearchPath, OrderOfAnInstallation) {
  const SearchPathInputs inputs{"/a:/b/:", {"/c"}, "/opt/halogen/bin/halogen"};
  EXPECT_EQ(shown(inputs),
            (std::vector<std::string>{"HALOGEN_PLUGIN_PATH /a", "HALOGEN_PLUGIN_PATH /b/",
                                      "plugins.path /c", "administrator /etc/halogen/plugins",
                                      "installation /opt/halogen/share/halogen/plugins"}));
  const auto folders = make_search_path(inputs);
  ASSERT_TRUE(folders.ok());
  EXPECT_EQ(folders->front().libraries, "");
  EXPECT_TRUE(folders->back().libraries.string().starts_with("/opt/halogen/lib"));
  EXPECT_TRUE(folders->back().libraries.string().ends_with("/halogen/plugins"));
}

TEST(SearchPath, BuildTreeIsKnownByItsCache) {
  const TemporaryFolder build;
  build.write("CMakeCache.txt", "");
  const SearchPathInputs inputs{"", {}, build.path() / "core/cli/halogen"};
  EXPECT_EQ(shown(inputs).back(), "build tree " + build.file("plugins"));
}

TEST(SearchPath, ThisTestRunsFromABuildTree) {
  EXPECT_EQ(shown(search_path_inputs({})).back(), "build tree " HALOGEN_BUILD_DIR "/plugins");
}

TEST(SearchPath, RelativeEntriesAreRefused) {
  EXPECT_EQ(
      shown({"/a:plugins", {}, "/usr/bin/halogen"}).front(),
      "HALOGEN_PLUGIN_PATH: the plugin folder \"plugins\" is relative; write an absolute path");
  EXPECT_EQ(shown({"", {"."}, "/usr/bin/halogen"}).front(),
            "plugins.path: the plugin folder \".\" is relative; write an absolute path");
}

TEST(SearchPath, EnvironmentIsRead) {
  setenv("HALOGEN_PLUGIN_PATH", "/from/environment", 1);
  EXPECT_EQ(shown(search_path_inputs({"/from/profile"})).at(0),
            "HALOGEN_PLUGIN_PATH /from/environment");
  EXPECT_EQ(shown(search_path_inputs({"/from/profile"})).at(1), "plugins.path /from/profile");
  unsetenv("HALOGEN_PLUGIN_PATH");
}

}  // namespace
}  // namespace halogen::test
