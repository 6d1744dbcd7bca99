// The headers against layout.inc.
#include "layout.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace halogen::test {
namespace {

static_assert(sizeof(void*) == 8, "the table is of 64-bit machines");

TEST(AbiLayout, EveryRowIsTrue) {
  for (const LayoutRow& row : kLayout) {
    EXPECT_EQ(row.real_offset, row.offset) << row.structure << '.' << row.member;
    EXPECT_EQ(row.real_size, row.size) << row.structure << '.' << row.member;
  }
}

// What came later began at or beyond the old end, so that an old writer's size tells that it is not
// there; and the struct has a size to tell it by.
TEST(AbiLayout, StructsGrowAtTheirEnd) {
  bool begins_with_size = false;
  int64_t old_size = 0, minor = 0;
  for (const LayoutRow& row : kLayout) {
    if (row.kind == RowKind::structure) {
      begins_with_size = false;
      old_size = minor = 0;
    }
    if (row.member == "struct_size" && row.offset == 0) begins_with_size = true;
    if (row.kind == RowKind::since) {
      EXPECT_TRUE(begins_with_size) << row.structure << " has no struct_size and cannot grow";
      EXPECT_GT(row.offset, minor) << row.structure;
      EXPECT_LE(row.offset, HALOGEN_ABI_MINOR) << row.structure;
      minor = row.offset;
      old_size = row.size;
    }
    if (row.kind == RowKind::member) {
      EXPECT_GE(row.offset, old_size) << row.structure << '.' << row.member << " lies in padding";
    }
  }
}

// Every struct, and every enumerator, that the headers define.
std::set<std::string> defined_in_headers() {
  std::set<std::string> names;
  const std::filesystem::path folder = std::filesystem::path(HALOGEN_SOURCE_DIR) / "include";
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    if (file.path().extension() != ".h") continue;
    std::ifstream stream(file.path());
    std::string text(std::istreambuf_iterator<char>(stream), {});
    text = std::regex_replace(text, std::regex(R"(/\*[^*]*\*+([^/*][^*]*\*+)*/)"), "");
    for (const char* pattern :
         {R"((?:struct|union)\s+(halogen_\w+)\s*\{)", R"([{,]\s*(HALOGEN_[A-Z0-9_]+)\s*=)"}) {
      const std::regex definition(pattern);
      for (std::sregex_iterator it(text.begin(), text.end(), definition), end; it != end; ++it)
        names.insert((*it)[1]);
    }
  }
  return names;
}

TEST(AbiLayout, NothingIsForgotten) {
  std::set<std::string> listed;
  for (const LayoutRow& row : kLayout)
    if (row.kind == RowKind::structure || row.kind == RowKind::value) listed.emplace(row.structure);
  EXPECT_EQ(listed, defined_in_headers());
}

// Where a compiler puts what follows `end`.
int64_t next_place(int64_t end, int64_t alignment) {
  return (end + alignment - 1) / alignment * alignment;
}

// A member without a row would leave a gap that no alignment explains. One that fits into the
// padding before a larger member is found by abi.sh.
TEST(AbiLayout, NoMemberIsForgotten) {
  std::string_view structure;
  int64_t size = 0, alignment = 1, end = 0;
  const auto close = [&] {
    EXPECT_EQ(size, next_place(end, alignment)) << structure << " has members without a row";
  };
  for (const LayoutRow& row : kLayout) {
    if (row.kind == RowKind::structure) {
      close();
      structure = row.structure;
      size = row.size;
      alignment = row.alignment;
      end = 0;
    }
    if (row.kind != RowKind::member) continue;
    EXPECT_LE(row.offset, next_place(end, row.alignment))
        << row.structure << " has members without a row before " << row.member;
    end = std::max(end, row.offset + row.size);
  }
  close();
}

}  // namespace
}  // namespace halogen::test
