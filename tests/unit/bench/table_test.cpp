#include "core/bench/table.h"

#include <gtest/gtest.h>

namespace halogen::bench {
namespace {

Table small_table() {
  Table table({"work", "tok/s"});
  table.add({"prefill", "1234.5"});
  table.add({"µ", "7"});
  return table;
}

TEST(Table, AlignsNumbersRightInATerminal) {
  EXPECT_EQ(small_table().text(),
            "work      tok/s\n"
            "prefill  1234.5\n"
            "µ             7\n");
}

TEST(Table, IsMarkdownWithTheSameColumns) {
  EXPECT_EQ(small_table().markdown(),
            "| work    |  tok/s |\n"
            "| ------- | -----: |\n"
            "| prefill | 1234.5 |\n"
            "| µ       |      7 |\n");
}

TEST(Table, BytesAreInPowersOfAThousand) {
  EXPECT_EQ(decimal_bytes(999), "999 B");
  EXPECT_EQ(decimal_bytes(1500), "1.50 kB");
  EXPECT_EQ(decimal_bytes(19.85e9), "19.9 GB");
}

}  // namespace
}  // namespace halogen::bench
