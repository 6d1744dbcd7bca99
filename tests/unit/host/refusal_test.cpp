// Plugins that must not be loaded: each is refused with a message that says what and what to do, is
// gone afterwards, and the host goes on working.
#include <elf.h>

#include "core/host/elf_object.h"
#include "fixture.h"

namespace halogen::test {
namespace {

class Refusal : public HostTest {
 protected:
  // The message with which loading is refused, "FILE" standing for the library and "MANIFEST" for
  // the manifest.
  std::string refuse(const std::string& name = "probe", const char* kind = PROBE_KIND) {
    const Census before;
    const auto handle = host.load(kind, name);
    EXPECT_FALSE(handle.ok());
    EXPECT_EQ(Census(), before);
    EXPECT_EQ(metrics.text(), "");
    std::string message = handle.ok() ? "" : handle.error().message;
    replace_all(message, library().string(), "FILE");
    replace_all(message, folder.file("probe.toml"), "MANIFEST");

    fs::remove_all(library());
    expect_good();
    EXPECT_EQ(Census(), before);
    return message;
  }

  // Puts v1 at probe.so, as far as `size`, with one byte changed.
  void install_damaged(size_t size, size_t at = 0, char byte = '\x7f') {
    install("v1");
    std::string bytes = read_file(library());
    bytes.resize(std::min(bytes.size(), size));
    if (at < bytes.size()) bytes[at] = byte;
    folder.write("probe.so", bytes);
  }

  static void replace_all(std::string& text, const std::string& from, const std::string& to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  }
};

const std::string kWho = "plugin 'org.example.probe' (probe \"probe\"): ";

TEST_F(Refusal, MissingLibraryNamesThePackage) {
  folder.write("probe.toml", ProbeManifest{}.text());
  EXPECT_EQ(refuse(), kWho +
                          "its library FILE named by the manifest MANIFEST is missing; it is part "
                          "of the package halogen-probe-probe");
}

TEST_F(Refusal, MissingLibraryWithoutPackage) {
  ProbeManifest manifest;
  manifest.more.clear();
  folder.write("probe.toml", manifest.text());
  EXPECT_EQ(refuse("org.example.probe"),
            kWho +
                "its library FILE named by the manifest MANIFEST is missing; install the plugin "
                "again");
}

TEST_F(Refusal, UnknownNameListsWhatThereIs) {
  install("v1");
  EXPECT_EQ(refuse("prube"),
            "there is no plugin for probe \"prube\"; did you mean \"probe\"? Available: probe. "
            "Manifests were looked for in " +
                folder.path().string() +
                ". By convention it is part of the package halogen-probe-prube");
}

TEST_F(Refusal, NoManifestAtAll) {
  EXPECT_EQ(
      refuse("vulkan"),
      "there is no plugin for probe \"vulkan\"; Available: none. Manifests were looked for in " +
          folder.path().string() +
          ". By convention it is part of the package halogen-probe-vulkan");
}

TEST_F(Refusal, WrongMajor) {
  install("wrong_major");
  EXPECT_EQ(refuse(), kWho + "FILE is for plugin ABI 99, but this halogen has " + kOurAbi +
                          "; install the "
                          "plugin's package for this version");
}

TEST_F(Refusal, NewerMinor) {
  install("newer_minor");
  EXPECT_EQ(refuse(), kWho + "FILE needs plugin ABI 1.999 or newer, but this halogen has " +
                          kOurAbi +
                          "; upgrade "
                          "halogen or install an older plugin");
}

TEST_F(Refusal, ManifestOfAnotherAbiIsRefusedWithoutOpening) {
  install("wrong_major");
  std::string text = ProbeManifest{}.text();
  replace_all(text, "major = 1", "major = 2");
  folder.write("probe.toml", text);
  EXPECT_EQ(refuse(), kWho + "its manifest MANIFEST is for plugin ABI 2, but this halogen has " +
                          kOurAbi +
                          "; "
                          "install the plugin's package for this version");
}

TEST_F(Refusal, ShortStruct) {
  install("short_struct");
  EXPECT_EQ(refuse(), kWho + "FILE: its entry of 16 bytes is shorter than the " +
                          std::to_string(sizeof(halogen_plugin)) +
                          " of plugin ABI 1.0; build it with halogen's headers");
}

TEST_F(Refusal, NoEntry) {
  install("no_entry");
  EXPECT_EQ(refuse(),
            kWho +
                "FILE cannot be used: it does not export halogen_plugin_entry; it is not a "
                "halogen plugin");
}

TEST_F(Refusal, EntryWithoutDescriptor) {
  install("no_descriptor");
  EXPECT_EQ(refuse(), kWho +
                          "FILE: its entry lacks a function or its descriptor; the plugin is "
                          "incomplete");
}

TEST_F(Refusal, EntryIsAFunction) {
  install("function_entry");
  EXPECT_EQ(refuse(),
            kWho +
                "FILE cannot be used: its halogen_plugin_entry is a function; it must be a "
                "constant of type halogen_plugin");
}

TEST_F(Refusal, TextFile) {
  install_damaged(0);
  folder.write("probe.so", "this is text");
  EXPECT_EQ(refuse(), kWho + "FILE cannot be loaded: it is a text file");
}

TEST_F(Refusal, EmptyFile) {
  install_damaged(0);
  EXPECT_EQ(refuse(), kWho + "FILE cannot be loaded: it is empty");
}

TEST_F(Refusal, OtherData) {
  install_damaged(1000, 1, '\x01');
  EXPECT_EQ(refuse(), kWho + "FILE cannot be loaded: it is not an ELF file");
}

TEST_F(Refusal, AnotherMachine) {
  install_damaged(SIZE_MAX, offsetof(Elf64_Ehdr, e_machine),
                  this_machine() == EM_AARCH64 ? '\x3e' : '\xb7');
  const std::string here = machine_name(this_machine());
  const std::string there = machine_name(this_machine() == EM_AARCH64 ? EM_X86_64 : EM_AARCH64);
  EXPECT_EQ(refuse(), kWho + "FILE is for " + there + " processors, but this one is " + here +
                          "; install the plugin's package for this machine");
}

TEST_F(Refusal, ThirtyTwoBits) {
  install_damaged(SIZE_MAX, EI_CLASS, ELFCLASS32);
  EXPECT_EQ(refuse(), kWho + "FILE cannot be loaded: it is not a 64-bit object");
}

// The loader itself would map it and die of the first page that the file does not have.
TEST_F(Refusal, CutOff) {
  install("v1");
  const auto whole = std::to_string(fs::file_size(library()));
  install_damaged(8000);
  EXPECT_EQ(refuse(),
            kWho + "FILE cannot be loaded: it is cut off: it has 8000 of " + whole + " bytes");
}

TEST_F(Refusal, CutOffInItsHeader) {
  install_damaged(40);
  EXPECT_EQ(refuse(), kWho + "FILE cannot be loaded: it is cut off in its header");
}

TEST_F(Refusal, AFolder) {
  folder.write("probe.toml", ProbeManifest{}.text());
  fs::create_directory(library());
  EXPECT_EQ(refuse(),
            kWho +
                "its library FILE named by the manifest MANIFEST is no file; it is part of "
                "the package halogen-probe-probe");
}

TEST_F(Refusal, UndefinedSymbol) {
  for (const char* bound : {"undefined_lazy", "undefined_now"}) {
    install(bound);
    EXPECT_EQ(refuse(),
              kWho + "FILE cannot be loaded: FILE: undefined symbol: function_that_nobody_has");
  }
}

TEST_F(Refusal, FactoryTooShortForItsName) {
  for (const char* factory : {"short_factory", "nameless_factory"}) {
    ProbeManifest manifest;
    manifest.kinds = R"(["halogen.scheduler/1"])";
    manifest.provides = R"({scheduler = "probe"})";
    install(factory, manifest);
    EXPECT_EQ(refuse("probe", "halogen.scheduler/1"),
              "plugin 'org.example.probe' (scheduler \"probe\"): its factory of kind "
              "halogen.scheduler/1 has no name");
  }
}

TEST_F(Refusal, InitFails) {
  install("init_fails");
  EXPECT_EQ(refuse(), kWho + "its init failed: no driver; install one");
}

TEST_F(Refusal, InitThrows) {
  install("init_throws");
  EXPECT_EQ(refuse(), kWho + "its init threw an exception: no such luck");
}

TEST_F(Refusal, IdOfTheManifestDiffers) {
  ProbeManifest manifest;
  manifest.id = "org.example.other";
  install("v1", manifest);
  EXPECT_EQ(refuse(),
            "plugin 'org.example.other' (probe \"probe\"): FILE is the plugin 'org.example.probe', "
            "but its manifest MANIFEST says 'org.example.other'");
}

TEST_F(Refusal, ClaimsAKindThatItHasNot) {
  ProbeManifest manifest;
  manifest.kinds = R"(["halogen.probe/1", "halogen.backend/1"])";
  manifest.provides = R"({probe = "probe", backend = "probe"})";
  install("v1", manifest);
  EXPECT_EQ(refuse(), kWho +
                          "its manifest MANIFEST claims the kind halogen.backend/1, but the plugin "
                          "has no factory for it");
}

TEST_F(Refusal, ClaimsAnotherName) {
  ProbeManifest manifest;
  manifest.provides = R"({probe = ["faster"]})";
  install("v1", manifest);
  EXPECT_EQ(refuse("faster"),
            "plugin 'org.example.probe' (probe \"faster\"): its probe is called \"probe\", but the "
            "manifest MANIFEST says \"faster\"");
}

TEST_F(Refusal, ProcessorLacksAFeature) {
  ProbeManifest manifest;
  manifest.more = "requires = {cpu = [\"flux_capacitor\"]}\n";
  install("v1", manifest);
  EXPECT_EQ(refuse(), kWho + "it needs a processor with flux_capacitor");
}

TEST_F(Refusal, OnTheLoopThread) {
  install("v1");
  struct Call {
    PluginHost& host;
    std::string message;
    std::atomic<bool> done{false};
  } call{host, {}};
  loop.post(
      [](void* argument) {
        auto* self = static_cast<Call*>(argument);
        const auto handle = self->host.load(PROBE_KIND, "probe");
        if (!handle) self->message = handle.error().message;
        self->done = true;
      },
      &call);
  while (!call.done) std::this_thread::yield();
  EXPECT_EQ(
      call.message,
      "plugin \"probe\" was to be loaded on the loop thread, which it would block; load it on "
      "a worker");
}

}  // namespace
}  // namespace halogen::test
