#include "core/text/special_tokens.h"

#include <string>

#include <gtest/gtest.h>

namespace halogen::text {
namespace {

TEST(SpecialTokens, FindsTheFirstAndThereTheLongest) {
  SpecialTokens special;
  special.add("<a>", 1);
  special.add("<a>b", 2);
  special.add("<a>bcd", 3);
  special.add("x", 4);
  special.add("<a>", 5);  // taken already

  const auto expect = [&](std::string_view text, size_t from, size_t begin, size_t length,
                          TokenId id) {
    const SpecialMatch match = special.find(text, from);
    EXPECT_EQ(match.begin, begin) << text;
    EXPECT_EQ(match.length, length) << text;
    EXPECT_EQ(match.id, id) << text;
  };
  expect("--<a>--", 0, 2, 3, 1);
  expect("--<a>bc", 0, 2, 4, 2);
  expect("<a>bcd", 0, 0, 6, 3);
  expect("<<a", 0, 0, 0, kNoToken);
  expect("<<a>x", 0, 1, 3, 1);
  expect("<<a>x", 2, 4, 1, 4);
  expect("", 0, 0, 0, kNoToken);
}

TEST(SpecialTokens, HoldsThousands) {
  SpecialTokens special;
  for (TokenId id = 0; id < 6000; ++id) special.add("<unused" + std::to_string(id) + ">", id);
  EXPECT_EQ(special.find("a <unused5123>", 0).id, 5123);
  EXPECT_EQ(special.find("a <unused6000>", 0).id, kNoToken);
}

}  // namespace
}  // namespace halogen::text
