// Files that are broken on purpose end in a message, never in a crash.
#include <random>

#include <gtest/gtest.h>

#include "core/config/toml_reader.h"
#include "tests/unit/config/support.h"

namespace halogen {
namespace {

using test::FromText;

std::string repeat(std::string_view text, std::size_t times) {
  std::string repeated;
  for (std::size_t i = 0; i < times; i++) repeated += text;
  return repeated;
}

TEST(Hostile, DeepKeysAreRefusedBeforeTheyOverflowTheStack) {
  const std::string deep = repeat("a.", 100'000) + "a";
  const std::string message = "FILE:2: a key of more than 33 parts";
  EXPECT_EQ(FromText("\n" + deep + " = 1\n").message(), message);
  EXPECT_EQ(FromText("\n[" + deep + "]\n").message(), message);
  EXPECT_EQ(FromText("\n[[" + deep + "]]\n").message(), message);
  EXPECT_EQ(FromText("\nx = {" + deep + " = 1}\n").message(), message);
  EXPECT_EQ(FromText("\n" + repeat("\"a\" . 'a' .", 100) + "a = 1\n").message(), message);
}

TEST(Hostile, DeepKeysCannotHideBehindStrings) {
  const std::string deep = repeat("a.", 100'000) + "a = 1";
  for (const std::string before : {"\"\"\"x\"\"\"\"", "\"\"\"x\"\"\"\"\"", "'''x''''", "\"x\\\"\"",
                                   "'\\'", "\"\"\"\\\"\"\"\"", "\"\"", "''", "\"#\""}) {
    const FromText loaded("x = {y = " + before + ", " + deep + "}\n");
    EXPECT_EQ(loaded.message(), "FILE:1: a key of more than 33 parts") << before;
  }
}

TEST(Hostile, DotsInStringsCommentsAndListsAreNoKeys) {
  const std::string dots(1000, '.');
  EXPECT_TRUE(FromText("# " + dots + "\n[backend.cpu]\na = \"" + dots + "\"\nb = '" + dots +
                       "'\nc = \"\"\"\n" + dots + "\n\"\"\"\n")
                  .ok());
  EXPECT_EQ(FromText("[server]\nhost = [" + repeat("0.5, ", 100) + "]\n").message(),
            "FILE:2: server.host = <an array that is not of texts>: expected text");
}

// The library, looking for white space, believes some of these to be unreachable.
TEST(Hostile, CharactersBeyondAsciiNeedQuotes) {
  for (const std::string& text :
       {std::string("z\xCB\xA4 = 1\n"), std::string("a = 1 \xCB\xA4\n"),
        std::string("a = -nif\"or\xEF\xBB\xB6g\n"), std::string("[server]\xEF\xBB\xB6\n")}) {
    EXPECT_EQ(FromText(text).message().substr(0, 24), "FILE:1: not valid TOML: ") << text;
  }
  EXPECT_TRUE(FromText("\xEF\xBB\xBF# \xCB\xA4\n[backend.cpu]\na = \"\xCB\xA4\"\n").ok());
}

TEST(Hostile, LinesAreCountedThroughMultilineStrings) {
  EXPECT_EQ(FromText("[backend.cpu]\na = \"\"\"\n\\\n\n\"\"\"\n" + repeat("a.", 50) + "a = 1\n")
                .message(),
            "FILE:6: a key of more than 33 parts");
}

TEST(Hostile, DeepArraysAndInlineTablesAreRefused) {
  EXPECT_EQ(FromText("x = " + std::string(100'000, '[') + "\n").message().substr(0, 24),
            "FILE:1: not valid TOML: ");
  const std::string nested = "{" + repeat("a.", 32) + "a = ";
  EXPECT_EQ(FromText("x = " + repeat(nested, 5'000) + "1" + std::string(5'000, '}') + "\n")
                .message()
                .substr(0, 24),
            "FILE:1: not valid TOML: ");
}

TEST(Hostile, TheDeepestFileThatIsReadIsHarmless) {
  const std::string nested = "{" + repeat("a.", 32) + "a = ";
  const FromText loaded("x = " + repeat(nested, 30) + "1" + std::string(30, '}') + "\n");
  EXPECT_NE(loaded.message().find(" is not a setting"), std::string::npos) << loaded.message();
}

TEST(Hostile, HugeFilesAreRefused) {
  EXPECT_EQ(FromText("# " + std::string((1 << 20) + 1, 'x')).message(),
            "FILE: larger than 1 MiB, which no profile is; is it the right file?");
  EXPECT_TRUE(FromText("# " + std::string((1 << 20) - 2, 'x')).ok());
}

TEST(Hostile, ManyErrorsAreAllReported) {
  std::string text = "[server]\n";
  for (int i = 0; i < 1000; i++) text += "unrelated_" + std::to_string(i) + " = 1\n";
  const std::string message = FromText(text).message();
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 999);
}

TEST(Hostile, BytesThatAreNoTomlAreAnError) {
  for (const std::string& text :
       {std::string("\0", 1), std::string("a = \"\0\"", 7), std::string("\xff\xfe[\0", 4),
        std::string("a = \"\xc3\x28\""), std::string("a = \"\\uD800\""), std::string("a = 'x"),
        std::string("a = \"\"\"x"), std::string("a = \"\\"), std::string("="), std::string("[["),
        std::string("a.b.c"), std::string("[=]"), std::string("[.a]"), std::string("[a.=]"),
        std::string("{}"), std::string(".a = 1"), std::string("a. = 1"),
        std::string("a = {.b = 1}"), std::string("a = 99999999999999999999")}) {
    const FromText loaded(text);
    EXPECT_EQ(loaded.status(), HALOGEN_E_INVALID) << loaded.message();
    EXPECT_EQ(loaded.message().substr(0, 24), "FILE:1: not valid TOML: ");
  }
}

// Whatever the bytes, the reader returns; the sanitizer build watches what happens meanwhile.
TEST(Hostile, RandomEditsOfAValidFileNeverCrash) {
  const std::string valid =
      "[server]\nport = 8080\nhost = \"127.0.0.1\"\napi_keys = [\"a\", 'b']\n[backend.cpu]\n"
      "threads = 8\nx = {a.b = 1.5, c = \"\"\"y\"\"\"}\nd = 2026-01-02T03:04:05Z\n";
  const std::string alphabet = "\"'[]{}=.,#\\\n\r\t 09aeuxU+-_:TZ\xc3\xa9\xff\x01";
  std::mt19937 random(1);  // NOLINT(bugprone-random-generator-seed): the same files in every run
  int readable = 0;
  for (int round = 0; round < 20'000; round++) {
    std::string text = valid;
    for (std::uint32_t edits = random() % 4 + 1; edits > 0; edits--) {
      const std::size_t at = random() % text.size();
      const char c = alphabet[random() % alphabet.size()];
      switch (random() % 3) {
        case 0:
          text[at] = c;
          break;
        case 1:
          text.insert(at, 1, c);
          break;
        default:
          text.erase(at, 1);
          break;
      }
    }
    const Result<std::vector<RawEntry>> entries = read_toml(text, "edited");
    readable += entries.ok() ? 1 : 0;
  }
  EXPECT_GT(readable, 0);
  EXPECT_LT(readable, 20'000);
}

}  // namespace
}  // namespace halogen
