#include "core/base/printable.h"

#include <string>

#include <gtest/gtest.h>

namespace halogen {
namespace {

using namespace std::string_literals;

TEST(Printable, WritesControlCharactersAsHexAndLeavesTheRest) {
  EXPECT_EQ(printable("a\tb\x7F"s + '\0' + "é"), "a\\x09b\\x7f\\x00é");
}

TEST(Excerpt, LeavesAShortName) {
  EXPECT_EQ(excerpt("qwen2"), "qwen2");
  EXPECT_EQ(excerpt(""), "");
}

TEST(Excerpt, WritesEveryByteThatIsNotPrintableAsciiAsHex) {
  EXPECT_EQ(excerpt("a\nb\xC3"), "a\\x0ab\\xc3");
}

TEST(Excerpt, CutsAfter64Bytes) {
  EXPECT_EQ(excerpt(std::string(64, 'x')), std::string(64, 'x'));
  EXPECT_EQ(excerpt(std::string(65, 'x')), std::string(64, 'x') + "...");
}

}  // namespace
}  // namespace halogen
