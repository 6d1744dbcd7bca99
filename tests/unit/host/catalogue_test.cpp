#include "core/host/catalogue.h"

#include "fixture.h"

namespace halogen::test {
namespace {

class CatalogueTest : public testing::Test {
 protected:
  void manifest(const std::string& file, const std::string& id, const std::string& name,
                const std::string& library = "x.so") {
    ProbeManifest manifest;
    manifest.id = id;
    manifest.provides = "{probe = \"" + name + "\"}";
    manifest.library = library;
    folder.write(file, manifest.text());
  }
  Catalogue read(const std::vector<std::string>& folders) {
    std::vector<PluginFolder> path;
    for (const auto& name : folders)
      path.push_back({folder.path() / name, folder.path() / "lib", name});
    return read_catalogue(path);
  }

  TemporaryFolder folder;
};

TEST_F(CatalogueTest, EarlierFolderOverridesById) {
  manifest("a/one.toml", "org.example.one", "one");
  manifest("b/other-file-name.toml", "org.example.one", "uno");
  manifest("b/two.toml", "org.example.two", "two");
  const auto catalogue = read({"a", "b", "missing"});
  ASSERT_EQ(catalogue.entries.size(), 2u);
  EXPECT_EQ(catalogue.entries[0].manifest.path, folder.file("a/one.toml"));
  EXPECT_EQ(catalogue.entries[0].origin, "a");
  EXPECT_EQ(catalogue.entries[1].manifest.id, "org.example.two");
  EXPECT_TRUE(catalogue.warnings.empty());
}

TEST_F(CatalogueTest, SameIdTwiceInOneFolderIsReported) {
  manifest("a/1.toml", "org.example.one", "one");
  manifest("a/2.toml", "org.example.one", "one");
  EXPECT_EQ(read({"a"}).warnings,
            std::vector<std::string>{folder.file("a/2.toml") +
                                     ": the plugin id org.example.one is already taken by " +
                                     folder.file("a/1.toml") + ", which is used"});
}

TEST_F(CatalogueTest, SharedNameGoesToTheEarlier) {
  manifest("a/one.toml", "org.example.one", "same");
  manifest("b/two.toml", "org.example.two", "same");
  const auto catalogue = read({"a", "b"});
  EXPECT_EQ((*catalogue.find(PROBE_KIND, "same"))->manifest.id, "org.example.one");
  EXPECT_EQ((*catalogue.find(PROBE_KIND, "org.example.two"))->manifest.id, "org.example.two");
  EXPECT_EQ(catalogue.warnings,
            std::vector<std::string>{"probe \"same\" is provided by " + folder.file("a/one.toml") +
                                     ", which is used, and by " + folder.file("b/two.toml") +
                                     ", which must be named by its id org.example.two"});
}

TEST_F(CatalogueTest, LibraryIsBesideTheManifestOrInTheLibraryFolder) {
  manifest("a/beside.toml", "org.example.beside", "beside", "beside.so");
  folder.write("a/beside.so", "");
  folder.write("lib/beside.so", "");
  manifest("a/installed.toml", "org.example.installed", "installed", "installed.so");
  folder.write("lib/installed.so", "");
  manifest("a/absolute.toml", "org.example.absolute", "absolute", folder.file("elsewhere.so"));
  const auto catalogue = read({"a"});
  ASSERT_EQ(catalogue.entries.size(), 3u);
  EXPECT_EQ(catalogue.entries[0].library, folder.file("elsewhere.so"));
  EXPECT_FALSE(catalogue.entries[0].library_exists);
  EXPECT_EQ(catalogue.entries[1].library, folder.file("a/beside.so"));
  EXPECT_TRUE(catalogue.entries[1].library_exists);
  EXPECT_EQ(catalogue.entries[2].library, folder.file("lib/installed.so"));
  EXPECT_TRUE(catalogue.entries[2].library_exists);
}

TEST_F(CatalogueTest, BrokenManifestIsAWarningUntilItsPluginIsWanted) {
  manifest("a/one.toml", "org.example.one", "one");
  folder.write("a/zwei.toml", "id = 2\n");
  folder.write("a/notes.txt", "not a manifest");
  const auto catalogue = read({"a"});
  const std::string broken =
      folder.file("a/zwei.toml") + ":1: \"id\" must be a string that is not empty";
  EXPECT_EQ(catalogue.warnings, std::vector<std::string>{broken});
  EXPECT_TRUE(catalogue.find(PROBE_KIND, "one").ok());
  const auto missing = catalogue.find(PROBE_KIND, "zwei");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().status, HALOGEN_E_NOT_FOUND);
  EXPECT_EQ(missing.error().message,
            "there is no plugin for probe \"zwei\"; Available: one. Manifests were looked for in " +
                folder.file("a") + ". Unreadable: " + broken +
                ". By convention it is part of the package halogen-probe-zwei");
}

TEST_F(CatalogueTest, IdOfAnotherKind) {
  manifest("a/one.toml", "org.example.one", "one");
  EXPECT_EQ(read({"a"}).find("halogen.backend/1", "org.example.one").error().message,
            "plugin 'org.example.one' (" + folder.file("a/one.toml") +
                ") is not a backend; its kinds are halogen.probe/1");
}

}  // namespace
}  // namespace halogen::test
