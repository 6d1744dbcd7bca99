#include "core/host/describe.h"

#include "fixture.h"

namespace halogen::test {
namespace {

using Describe = HostTest;

TEST_F(Describe, NothingFound) {
  EXPECT_EQ(describe(host.list()), "no plugins found\n");
}

TEST_F(Describe, EveryState) {
  ProbeManifest manifest;
  manifest.more += "requires = {cpu = [\"fpu\"], notes = [\"patience\"]}\n";
  install("v1", manifest);
  auto handle = host.load(PROBE_KIND, "probe");
  ASSERT_TRUE(handle.ok()) << handle.error().message;

  ProbeManifest other;
  other.id = "org.example.gone";
  other.provides = R"({probe = "gone"})";
  other.library = "gone.so";
  other.more.clear();
  folder.write("quite.toml", other.text());
  folder.write("zz.toml", "nonsense");

  std::string text = describe(host.list());
  const std::string parse_error = folder.file("zz.toml") + ":1: ";
  const size_t error = text.find(parse_error);
  ASSERT_NE(error, std::string::npos);  // the parser's own words follow
  const size_t words = error + parse_error.size();
  text.replace(words, text.find('\n', words) - words, "…");
  EXPECT_EQ(text,
            "org.example.probe 1.0.0 — Probe\n"
            "  state     loaded, generation 1 (1.0.0)\n"
            "  provides  probe \"probe\" (halogen.probe/1)\n"
            "  library   " +
                library().string() +
                "\n"
                "  manifest  " +
                folder.file("probe.toml") +
                "\n"
                "  from      test\n"
                "  package   halogen-probe-probe\n"
                "  needs     cpu fpu, patience\n"
                "\n"
                "org.example.gone 1.0.0 — Probe\n"
                "  state     library missing\n"
                "  provides  probe \"gone\" (halogen.probe/1)\n"
                "  library   " +
                folder.file("gone.so") +
                "\n"
                "  manifest  " +
                folder.file("quite.toml") +
                "\n"
                "  from      test\n"
                "\n" +
                folder.file("zz.toml") +
                "\n"
                "  state     manifest broken\n"
                "  error     " +
                folder.file("zz.toml") +
                ":1: …\n"
                "  from      test\n");
}

TEST_F(Describe, FailureAndRemovalOfTheFile) {
  install("init_fails");
  EXPECT_FALSE(host.load(PROBE_KIND, "probe").ok());
  auto list = host.list();
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].state, PluginState::failed);
  EXPECT_EQ(
      list[0].message,
      "plugin 'org.example.probe' (probe \"probe\"): its init failed: no driver; install one");

  install("v1");
  auto handle = host.load(PROBE_KIND, "probe");
  ASSERT_TRUE(handle.ok());
  fs::remove(library());
  list = host.list();
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].state, PluginState::library_missing);
  EXPECT_EQ(list[0].message, "");
  ASSERT_EQ(list[0].generations.size(), 1u);
  EXPECT_EQ(list[0].generations[0].state, GenerationState::serving);

  fs::remove(folder.path() / "probe.toml");
  list = host.list();
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].manifest.id, "org.example.probe");
  ASSERT_EQ(list[0].generations.size(), 1u);
  EXPECT_EQ(probe(*handle).answer(), 1);
}

TEST_F(Describe, WarningsAreLoggedOnce) {
  folder.write("zz.toml", "id = 1");
  host.list();
  host.list();
  EXPECT_EQ(log.count("zz.toml:1: "), 1u);
}

}  // namespace
}  // namespace halogen::test
