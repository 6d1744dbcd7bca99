// What `halogen plugins inspect` finds out about a file without loading it.
#include "core/host/inspection.h"

#include <elf.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "core/host/inspection_report.h"
#include "core/host/library_search.h"
#include "fixture.h"

namespace halogen::test {
namespace {

using Texts = std::vector<std::string>;

class InspectionTest : public HostTest {
 protected:
  Inspection inspect(const fs::path& file, const fs::path& manifest = {}) {
    const Census before;
    auto inspection = inspect_plugin(file, manifest);
    EXPECT_TRUE(inspection.ok()) << inspection.error().message;
    EXPECT_EQ(Census(), before);
    return inspection.ok() ? *inspection : Inspection{};
  }
  Inspection inspect() { return inspect(library()); }

  // "FILE" stands for the library and "MANIFEST" for the manifest.
  Texts plain(Texts texts) {
    for (std::string& text : texts)
      for (const auto& [from, to] : {std::pair{library().string(), "FILE"},
                                     std::pair{folder.file("probe.toml"), "MANIFEST"}})
        if (const size_t at = text.find(from); at != std::string::npos)
          text.replace(at, from.size(), to);
    return texts;
  }
};

TEST_F(InspectionTest, TellsWhatAGoodPluginIs) {
  install("v1");
  const Inspection found = inspect();
  EXPECT_TRUE(found.usable());
  EXPECT_EQ(found.problems, Texts());
  EXPECT_EQ(found.remarks, Texts());
  std::string text = inspection_text(found);
  const size_t needs = text.find("  needs ");
  ASSERT_NE(needs, std::string::npos);  // differ from machine to machine
  text.erase(needs, text.find('\n', needs) + 1 - needs);
  EXPECT_EQ(text, library().string() +
                      "\n"
                      "  plugin    org.example.probe 1.0.0 — Probe\n"
                      "  licence   Apache-2.0\n"
                      "  abi       built with " +
                      kOurAbi +
                      ", needs 1.0 (an entry of 48 bytes)\n"
                      "  unload    leaves memory\n"
                      "  machine   " +
                      found.machine + "\n  manifest  " + folder.file("probe.toml") +
                      "\n"
                      "  kinds     halogen.probe/1\n"
                      "This halogen (plugin ABI " +
                      kOurAbi + ") takes it.\n");
}

TEST_F(InspectionTest, AnswersAsJson) {
  install("v1");
  const auto json = nlohmann::json::parse(inspection_json(inspect()));
  EXPECT_EQ(json["usable"], true);
  EXPECT_EQ(json["plugin"]["id"], "org.example.probe");
  EXPECT_EQ(json["plugin"]["abi_minor"], HALOGEN_ABI_MINOR);
  EXPECT_EQ(json["manifest"], folder.file("probe.toml"));
  EXPECT_TRUE(json["problems"].empty());

  folder.write("text.so", "text");
  const auto bad = nlohmann::json::parse(inspection_json(inspect(folder.path() / "text.so")));
  EXPECT_EQ(bad["usable"], false);
  EXPECT_TRUE(bad["plugin"].is_null());
  EXPECT_TRUE(bad["manifest"].is_null());
  EXPECT_EQ(bad["problems"][0], "it is a text file");
}

TEST_F(InspectionTest, FindsTheLibraryOfAManifest) {
  install("v1");
  EXPECT_EQ(inspect(folder.path() / "probe.toml").library, library());
  fs::remove(library());
  const auto missing = inspect_plugin(folder.path() / "probe.toml", {});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message, library().string() + ": there is no such file");
}

TEST_F(InspectionTest, RunsNoConstructor) {
  const Release release;  // for which it would wait
  install("slow_constructor");
  EXPECT_TRUE(inspect().usable());
}

TEST_F(InspectionTest, RefusesWhatTheHostRefuses) {
  const std::pair<const char*, std::string> cases[] = {
      {"no_entry", "it does not export halogen_plugin_entry; it is not a halogen plugin"},
      {"function_entry",
       "its halogen_plugin_entry is a function; it must be a constant of type halogen_plugin"},
      {"no_descriptor", "its entry lacks descriptor"},
      {"newer_minor", "FILE needs plugin ABI 1.999 or newer, but this halogen has " + kOurAbi +
                          "; upgrade halogen or install "
                          "an older plugin"},
      {"short_struct",
       "FILE: its entry of 16 bytes is shorter than the 48 of plugin ABI 1.0; build it with "
       "halogen's headers"},
      {"undefined_lazy", "symbols that it needs are defined nowhere: function_that_nobody_has"},
      {"missing_library", "needed libraries are not found: libhalogen-test-nowhere.so"},
  };
  for (const auto& [built, problem] : cases) {
    install(built);
    const Inspection found = inspect();
    EXPECT_FALSE(found.usable());
    EXPECT_EQ(plain(found.problems), Texts{problem});
  }
}

TEST_F(InspectionTest, AnotherMajorContradictsTheManifestToo) {
  install("wrong_major");
  EXPECT_EQ(plain(inspect().problems),
            (Texts{"FILE is for plugin ABI 99, but this halogen has " + kOurAbi +
                       "; install the plugin's "
                       "package for this version",
                   "its ABI major is 99, but its manifest MANIFEST says 1"}));
}

TEST_F(InspectionTest, TellsWhatKeepsItInMemory) {
  const std::pair<const char*, const char*> cases[] = {
      {"pinned", "it may stay in memory after it is unloaded: it is linked with -z nodelete"},
      {"unique",
       "it may stay in memory after it is unloaded: it defines a GNU_UNIQUE symbol (probe_unique); "
       "build it with -fno-gnu-unique"},
      {"thread_local",
       "it may stay in memory after it is unloaded: it has thread_local objects with destructors, "
       "which hold it until the threads that used them end"},
      {"missing_library",
       "its run path uses $ORIGIN, but halogen opens a private copy in another place"}};
  for (const auto& [built, remark] : cases) {
    install(built);
    const Texts remarks = inspect().remarks;
    EXPECT_EQ(std::ranges::count(remarks, remark), 1) << built;
  }
}

TEST_F(InspectionTest, TellsWhatElseItExports) {
  install("unique");
  const Inspection found = inspect();  // a sanitizer adds symbols of its own
  EXPECT_EQ(std::ranges::count(found.other_exports, "probe_unique"), 1);
  EXPECT_EQ(std::ranges::count(found.other_exports, HALOGEN_PLUGIN_SYMBOL), 0);
  EXPECT_TRUE(found.remarks.at(0).starts_with("it exports more than its entry: "));
}

TEST_F(InspectionTest, ComparesWithTheManifest) {
  ProbeManifest manifest;
  manifest.id = "org.example.other";
  manifest.version = "3.0.0";
  install("v1", manifest);
  const Inspection found = inspect();
  EXPECT_EQ(plain(found.problems),
            Texts{"its id is org.example.probe, but its manifest MANIFEST says org.example.other"});
  EXPECT_EQ(plain(found.remarks),
            Texts{"its version is 1.0.0, but its manifest MANIFEST says 3.0.0"});

  install("v1");
  manifest = {};
  manifest.library = "elsewhere.so";
  folder.write("other.txt", manifest.text());
  EXPECT_EQ(inspect(library(), folder.path() / "other.txt").problems,
            Texts{"its manifest " + folder.file("other.txt") + " names the library elsewhere.so"});
  manifest.library = "probe.so";
  std::string text = manifest.text();
  text.replace(text.find("least_host_minor = 0"), 20, "least_host_minor = 9");
  folder.write("other.txt", text);
  const Inspection newer = inspect(library(), folder.path() / "other.txt");
  EXPECT_EQ(newer.problems,
            Texts{"its manifest " + folder.file("other.txt") +
                  " needs plugin ABI 1.9 or newer, but this halogen has " + kOurAbi +
                  "; upgrade halogen or "
                  "install an older plugin"});
  EXPECT_EQ(newer.remarks, Texts{"its least host minor is 0, but its manifest " +
                                 folder.file("other.txt") + " says 9"});
}

std::string for_another_machine(std::string bytes) {
  bytes[offsetof(Elf64_Ehdr, e_machine)] = this_machine() == EM_AARCH64 ? '\x3e' : '\xb7';
  return bytes;
}

TEST_F(InspectionTest, GoesOnToTheLibraryOfItsMachine) {
  const std::string name = "libhalogen-test-nowhere.so";
  const std::string needed = read_file(fs::path(HALOGEN_TEST_PROBES) / "libraries" / name);
  std::string plugin = read_file(fs::path(HALOGEN_TEST_PROBES) / "run_path.so");
  const std::string placeholder = '/' + std::string(250, '-');
  std::string run_path = folder.file("foreign") + ':' + folder.file("native");
  ASSERT_LE(run_path.size(), placeholder.size());
  run_path.resize(placeholder.size(), '\0');
  ASSERT_NE(plugin.find(placeholder), std::string::npos);
  plugin.replace(plugin.find(placeholder), placeholder.size(), run_path);
  install("v1");
  folder.write("probe.so", plugin);
  folder.write("foreign/" + name, for_another_machine(needed));
  EXPECT_EQ(inspect().missing_libraries, Texts{name});
  folder.write("native/" + name, needed);
  EXPECT_EQ(inspect().missing_libraries, Texts());
}

TEST_F(InspectionTest, FindsLibrariesBesideTheOneThatNeedsThem) {
  folder.write("lib/liba.so", "");
  folder.write("more/liba.so", "");
  const auto found = [&](const fs::path& origin) {
    return find_libraries("liba.so", "$ORIGIN/lib:/no/such/folder:${ORIGIN}/more", origin);
  };
  EXPECT_EQ(found(folder.path()),
            (std::vector<fs::path>{folder.path() / "lib/liba.so", folder.path() / "more/liba.so"}));
  EXPECT_EQ(found({}), std::vector<fs::path>());
}

TEST_F(InspectionTest, CannotTellWhatWasStripped) {
  install("v1");
  folder.write("probe.so", without_section_headers(read_file(library())));
  const Inspection found = inspect();
  EXPECT_EQ(found.problems, Texts());
  EXPECT_FALSE(found.usable());
  EXPECT_NE(inspection_text(found).find(") cannot tell without loading it whether it takes it.\n"),
            std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(inspection_json(found))["usable"].is_null());
}

TEST_F(InspectionTest, ReadsAnotherMachinesPlugin) {
  install("v1");
  folder.write("probe.so", for_another_machine(read_file(library())));
  const std::string there = this_machine() == EM_AARCH64 ? "x86-64" : "AArch64";
  const Inspection found = inspect();
  EXPECT_EQ(found.machine, there);
  EXPECT_EQ(
      std::ranges::count(found.problems, "it is for " + there + " processors, but this one is " +
                                             machine_name(this_machine())),
      1);
}

// A file's own text must not reach the terminal as commands.
TEST_F(InspectionTest, EscapesWhatTheFileSays) {
  install("v1");
  std::string bytes = read_file(library());
  const std::string id = "org.example.probe";
  for (size_t at = 0; (at = bytes.find(id, at)) != std::string::npos; at += id.size())
    bytes.replace(at, 4, "\x1b[2J");
  folder.write("probe.so", bytes);
  const std::string text = inspection_text(inspect());
  EXPECT_NE(text.find("\\x1b[2Jexample.probe 1.0.0"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST_F(InspectionTest, NamesAFileThatCannotBeRead) {
  const auto missing = inspect_plugin(folder.path() / "no.so", {});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message, folder.file("no.so") + ": there is no such file");
  const auto nothing = inspect_plugin("", {});
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.error().message, "the name of the file is empty");
  const auto a_folder = inspect_plugin(folder.path(), {});
  ASSERT_FALSE(a_folder.ok());
  EXPECT_EQ(a_folder.error().message, folder.path().string() + ": this is no file");
}

TEST_F(InspectionTest, DoesNotWaitForAPipe) {
  for (const char* name : {"pipe.so", "pipe.toml"}) {
    const std::string path = folder.file(name);
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    const auto refused = inspect_plugin(path, {});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().message.substr(0, path.size() + 2), path + ": ");
  }
}

TEST_F(InspectionTest, NamesABrokenManifest) {
  folder.write("bad.toml", "id = 1\n");
  const auto broken = inspect_plugin(folder.path() / "bad.toml", {});
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().message.substr(0, folder.file("bad.toml").size() + 3),
            folder.file("bad.toml") + ":1:");
}

}  // namespace
}  // namespace halogen::test
