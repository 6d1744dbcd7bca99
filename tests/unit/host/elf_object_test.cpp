// Reading objects that are whole, damaged or hostile.
#include "core/host/elf_object.h"

#include <random>

#include "core/host/elf_traits.h"
#include "core/host/plugin_file.h"
#include "fixture.h"

namespace halogen::test {
namespace {

std::string built(const char* name) {
  return read_file(fs::path(HALOGEN_TEST_PROBES) / (std::string(name) + ".so"));
}

Result<ElfObject> parse(const std::string& bytes) {
  return ElfObject::parse(std::as_bytes(std::span(bytes)));
}

// Everything that is ever asked of an object.
size_t read_all(const std::string& bytes) {
  const auto object = parse(bytes);
  if (!object) return object.error().message.size();
  const auto description = describe_entry(*object);
  return reasons_to_stay_mapped(*object).size() + object->needed().size() +
         (description ? description->id.size() + description->missing.size()
                      : description.error().message.size());
}

TEST(ElfObject, ReadsTheEntryThroughItsRelocations) {
  const std::string bytes = built("v2");
  const auto object = parse(bytes);
  ASSERT_TRUE(object.ok()) << object.error().message;
  EXPECT_EQ(object->machine(), this_machine());
  const auto plugin = describe_entry(*object);
  ASSERT_TRUE(plugin.ok());
  EXPECT_EQ(plugin->entry.struct_size, sizeof(halogen_plugin));
  EXPECT_EQ(plugin->entry.abi_major, HALOGEN_ABI_MAJOR);
  EXPECT_EQ(plugin->entry.abi_minor, HALOGEN_ABI_MINOR);
  EXPECT_EQ(plugin->id, "org.example.probe");
  EXPECT_EQ(plugin->name, "Probe");
  EXPECT_EQ(plugin->version, "2.0.0");
  EXPECT_EQ(plugin->licence, "Apache-2.0");
  EXPECT_EQ(plugin->unload, HALOGEN_UNLOAD);
  EXPECT_EQ(plugin->missing, std::vector<std::string>());
}

TEST(ElfObject, ReadsPackedRelocations) {
  const std::string bytes = built("packed");
  if (bytes.empty()) GTEST_SKIP() << "the linker cannot pack relocations";
  const auto object = parse(bytes);
  ASSERT_TRUE(object.ok());
  const auto plugin = describe_entry(*object);
  ASSERT_TRUE(plugin.ok());
  EXPECT_EQ(plugin->id, "org.example.probe");
  EXPECT_EQ(plugin->missing, std::vector<std::string>());
}

TEST(ElfObject, KnowsWhatAFileIsInstead) {
  const auto what = [](const std::string& bytes) { return parse(bytes).error().message; };
  EXPECT_EQ(what(""), "it is empty");
  EXPECT_EQ(what("#!/bin/sh\n"), "it is a text file");
  EXPECT_EQ(what("!<arch>\n"), "it is a static library");
  EXPECT_EQ(what("version https://git-lfs.github.com/spec/v1\n"),
            "it is a Git LFS pointer, not the file");
  EXPECT_EQ(what(std::string("\0\1\2", 3)), "it is not an ELF file");
  EXPECT_EQ(what(read_file("/proc/self/exe")), "it is a program, not a shared object");
}

TEST(ElfObject, EveryLengthButTheWholeIsRefused) {
  const std::string bytes = built("v1");
  for (size_t size = 0; size < bytes.size(); size += size < 4096 ? 1 : 61)
    ASSERT_FALSE(parse(bytes.substr(0, size)).ok()) << size;
  EXPECT_TRUE(parse(bytes).ok());
}

TEST(ElfObject, NoDamageMakesItReadOutside) {
  const std::string whole = built("v1");
  std::mt19937 random(1);
  size_t seen = 0;
  const auto damaged = [&](size_t at, std::string_view with) {
    std::string bytes = whole;
    bytes.replace(at, with.size(), with);
    seen += read_all(bytes);
  };
  // Numbers that overflow, at every place of the headers and of the tables at the file's end.
  const std::string_view numbers[] = {{"\xff\xff\xff\xff\xff\xff\xff\xff", 8},
                                      {"\xff\xff\xff\xff\xff\xff\xff\x7f", 8},
                                      {"\xf8\xff\xff\xff", 4},
                                      {"\0\0\0\0\0\0\0\x80", 8}};
  for (const std::string_view number : numbers) {
    for (size_t at = 0; at < 2048; at += 4) damaged(at, number);
    for (size_t at = whole.size() - 2600; at + 8 <= whole.size(); at += 4) damaged(at, number);
  }
  for (int i = 0; i < 4000; ++i) {
    std::string bytes = whole;
    for (unsigned flips = 1 + random() % 8; flips > 0; --flips)
      bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
    seen += read_all(bytes);
  }
  EXPECT_GT(seen, 0u);
}

}  // namespace
}  // namespace halogen::test
