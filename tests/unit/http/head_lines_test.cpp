// Line ends of a request's head and trailers, wherever the bytes are cut.
#include "core/http/internal/head_lines.h"

#include <gtest/gtest.h>

namespace halogen::http {
namespace {

// What is found wrong when `bytes` come in two pieces, whatever the place of the cut.
std::string fault(std::string_view bytes, const HeadLines& start = {}) {
  std::string first;
  for (size_t cut = 0; cut <= bytes.size(); cut++) {
    HeadLines lines = start;
    std::string found(lines.check(bytes.substr(0, cut)));
    if (found.empty()) found = lines.check(bytes.substr(cut));
    if (cut == 0) first = found;
    EXPECT_EQ(found, first) << "cut at " << cut;
  }
  return first;
}

TEST(HeadLines, PassWhereTheyAreRight) {
  EXPECT_EQ(fault("GET / HTTP/1.1\r\nHost: t\r\n\r\n"), "");
  EXPECT_EQ(fault("\r\n\r\nGET / HTTP/1.1\r\nHost: t\r\n\r\n"), "") << "blank lines may precede";
}

TEST(HeadLines, EndWithTheHead) {
  EXPECT_EQ(fault("POST / HTTP/1.1\r\nHost: t\r\n\r\na body\n with \n any bytes"), "");
}

TEST(HeadLines, MustNotBeFolded) {
  EXPECT_NE(fault("GET / HTTP/1.1\r\nX: a\r\n b\r\n\r\n"), "");
  EXPECT_NE(fault("GET / HTTP/1.1\r\nX:\r\n\tb\r\n\r\n"), "");
  EXPECT_NE(fault("GET / HTTP/1.1\r\n Host: t\r\n\r\n"), "");
  EXPECT_NE(fault("GET / HTTP/1.1\r\nX: a\r\n \r\n\r\n"), "") << "a line of blanks is a fold too";
}

TEST(HeadLines, MustNotEndWithALineFeedAlone) {
  EXPECT_NE(fault("GET / HTTP/1.1\nHost: t\r\n\r\n"), "");
  EXPECT_NE(fault("GET / HTTP/1.1\r\nHost: t\n\r\n"), "");
  EXPECT_NE(fault("GET / HTTP/1.1\r\nHost: t\r\n\n"), "");
  EXPECT_NE(fault("\nGET / HTTP/1.1\r\n\r\n"), "");
}

TEST(HeadLines, MustNotHaveACarriageReturnAlone) {
  EXPECT_NE(fault("GET / HTTP/1.1\r\nHost: t\r\n\rJ"), "");
  EXPECT_NE(fault("GET / HTTP/1.1\r\nHost: t\rX: y\r\n\r\n"), "");
  EXPECT_NE(fault("GET / HTTP/1.1\r\r\n\r\n"), "");
  EXPECT_NE(fault("\r\n\rGET / HTTP/1.1\r\nHost: t\r\n\r\n"), "");
}

TEST(HeadLines, OfTrailersAreLikeThoseOfTheHead) {
  const auto trailers = [](std::string_view bytes) {
    HeadLines lines;
    lines.expect_trailers();
    return fault(bytes, lines);
  };
  EXPECT_EQ(trailers("\r\n"), "");
  EXPECT_EQ(trailers("A: b\r\n\r\nGET / HTTP/1.1\n"), "") << "they end with a blank line";
  EXPECT_NE(trailers("\n"), "");
  EXPECT_NE(trailers("A: b\n\r\n"), "");
  EXPECT_NE(trailers(" A: b\r\n\r\n"), "");
  EXPECT_NE(trailers("A: b\r\n c\r\n\r\n"), "");
}

}  // namespace
}  // namespace halogen::http
