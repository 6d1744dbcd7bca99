// The ways of naming a plugin.
#include "core/check/find_plugin.h"

#include <gtest/gtest.h>

namespace halogen::check {
namespace {

const std::string kFolder = HALOGEN_WRONG_PLUGINS;

std::string id_of(const std::string& name) {
  auto found = find_plugin(name, {{kFolder, {}, "test"}});
  return found ? found->manifest.id : "error: " + found.error().message;
}

TEST(FindPlugin, TakesIdNameManifestAndObject) {
  EXPECT_EQ(id_of("org.example.reference"), "org.example.reference");
  EXPECT_EQ(id_of("reference"), "org.example.reference");
  EXPECT_EQ(id_of(kFolder + "/reference_backend.toml"), "org.example.reference");
  EXPECT_EQ(id_of(kFolder + "/reference_backend.so"), "org.example.reference");
}

TEST(FindPlugin, SaysWhatIsMissing) {
  EXPECT_EQ(id_of("referense"),
            "error: there is no plugin \"referense\"; did you mean \"reference\"? Name an id, a "
            "manifest or a shared object; `halogen plugins` lists what there is");
  EXPECT_EQ(id_of("/nowhere/x.so"), "error: /nowhere/x.so: there is no such file");
  EXPECT_EQ(id_of("/nowhere/x.toml"), "error: /nowhere/x.toml: there is no such file");
}

TEST(FindPlugin, WantsAManifestBesideAnObject) {
  const std::string answer = id_of(HALOGEN_BUILD_DIR "/CMakeCache.txt");
  EXPECT_NE(answer.find("no manifest (*.toml) beside it"), std::string::npos) << answer;
}

}  // namespace
}  // namespace halogen::check
