#include "core/host/manifest.h"

#include "fixture.h"

namespace halogen::test {
namespace {

const std::string kGood = R"(id = "org.example.two"
name = "Two things"
version = "1.2.3"
kinds = ["halogen.backend/1", "org.example.thing/2"]
abi = {major = 1, least_host_minor = 3}
library = "two.so"
package = "example-two"
[provides]
backend = ["two", "deux"]
thing = "it"
[requires]
cpu = ["avx2"]
notes = ["a Vulkan driver"]
)";

std::string error_of(const std::string& text) {
  const auto manifest = parse_manifest(text, "/x/two.toml");
  return manifest ? "no error" : manifest.error().message;
}

// kGood with one line replaced.
std::string with(const std::string& line, const std::string& replacement) {
  std::string text = kGood;
  const size_t at = text.find(line);
  EXPECT_NE(at, std::string::npos);
  return text.replace(at, line.size(), replacement);
}

TEST(Manifest, Reads) {
  const auto manifest = parse_manifest(kGood, "/x/two.toml");
  ASSERT_TRUE(manifest.ok()) << manifest.error().message;
  EXPECT_EQ(manifest->path, "/x/two.toml");
  EXPECT_EQ(manifest->id, "org.example.two");
  EXPECT_EQ(manifest->name, "Two things");
  EXPECT_EQ(manifest->version, "1.2.3");
  EXPECT_EQ(manifest->kinds,
            (std::vector<std::string>{"halogen.backend/1", "org.example.thing/2"}));
  EXPECT_TRUE(manifest->provides_name("halogen.backend/1", "deux"));
  EXPECT_TRUE(manifest->provides_name("org.example.thing/2", "it"));
  EXPECT_FALSE(manifest->provides_name("org.example.thing/2", "two"));
  EXPECT_EQ(manifest->abi_major, 1);
  EXPECT_EQ(manifest->least_host_minor, 3);
  EXPECT_EQ(manifest->library, "two.so");
  EXPECT_EQ(manifest->package, "example-two");
  EXPECT_EQ(manifest->cpu_features, std::vector<std::string>{"avx2"});
  EXPECT_EQ(manifest->notes, std::vector<std::string>{"a Vulkan driver"});
}

TEST(Manifest, KindWord) {
  EXPECT_EQ(kind_word("halogen.backend/1"), "backend");
  EXPECT_EQ(kind_word("org.example.thing/2"), "thing");
}

TEST(Manifest, ErrorsNameFileAndLine) {
  EXPECT_EQ(error_of(with("version", "verison")),
            "/x/two.toml:3: \"verison\" is not a key of this manifest; the nearest is \"version\"");
  EXPECT_EQ(error_of(kGood + "colour = \"red\"\n"),
            "/x/two.toml:14: \"requires.colour\" is not a key of this manifest");
}

TEST(Manifest, EveryKeyIsChecked) {
  EXPECT_EQ(error_of(with("name = \"Two things\"\n", "")),
            "/x/two.toml:1: the manifest lacks the key \"name\"");
  EXPECT_EQ(error_of(with("\"1.2.3\"", "1.2")),
            "/x/two.toml:3: \"version\" must be a string that is not empty");
  EXPECT_EQ(error_of(with("org.example.two", "two")),
            "/x/two.toml:1: the id \"two\" is not of the form \"org.example.plugin\"");
  EXPECT_EQ(error_of(with("halogen.backend/1", "backend")),
            "/x/two.toml:4: the kind \"backend\" is not of the form \"halogen.backend/1\"");
  EXPECT_EQ(error_of(with("major = 1", "major = 70000")),
            "/x/two.toml:5: \"abi.major\" must be a whole number from 0 to 65535");
  EXPECT_EQ(error_of(with("least_host_minor = 3", "least_host_miner = 3")),
            "/x/two.toml:5: \"abi.least_host_miner\" is not a key of this manifest; the nearest is "
            "\"abi.least_host_minor\"");
  EXPECT_EQ(error_of(with("abi = {major = 1, least_host_minor = 3}", "abi = 1")),
            "/x/two.toml:5: \"abi\" must be a table");
  EXPECT_EQ(error_of(with("thing = \"it\"\n", "")),
            "/x/two.toml:8: the manifest lacks the key \"provides.thing\"");
  EXPECT_EQ(error_of(with("thing = \"it\"", "thing = [1]")),
            "/x/two.toml:10: \"provides.thing\" must be a list of strings that are not empty");
  EXPECT_EQ(error_of(with("org.example.thing/2", "org.example.backend/2")),
            "/x/two.toml:4: two kinds are both called \"backend\"");
  EXPECT_EQ(error_of(with("[\"avx2\"]", "\"avx2\"")),
            "/x/two.toml:12: \"requires.cpu\" must be a list of strings that are not empty");
}

TEST(Manifest, SyntaxErrorHasItsLine) {
  EXPECT_EQ(error_of("id = \"a.b\"\nname = \n").substr(0, 14), "/x/two.toml:2:");
}

// The library by itself would abort, overflow the stack, and pass an escape on.
TEST(Manifest, HostileFilesAreErrors) {
  EXPECT_EQ(error_of("a = 1\n[=").substr(0, 14), "/x/two.toml:2:");
  std::string deep = "a";
  for (int i = 0; i < 100'000; i++) deep += ".a";
  EXPECT_EQ(error_of(deep + " = 1"), "/x/two.toml:1: a key of more than 33 parts");
  EXPECT_EQ(
      error_of(with("halogen.backend/1", "halogen.\\u001bend/1")),
      "/x/two.toml:4: the kind \"halogen.\\x1bend/1\" is not of the form \"halogen.backend/1\"");
}

TEST(Manifest, EmptyFileLacksItsKeys) {
  EXPECT_EQ(error_of(""), "/x/two.toml:1: the manifest lacks the key \"id\"");
}

TEST(Manifest, MissingFile) {
  const auto manifest = read_manifest("/nonexistent/two.toml");
  ASSERT_FALSE(manifest.ok());
  EXPECT_EQ(manifest.error().message, "/nonexistent/two.toml: the plugin manifest cannot be read");
}

}  // namespace
}  // namespace halogen::test
