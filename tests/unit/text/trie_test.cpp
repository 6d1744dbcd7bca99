#include "core/text/trie.h"

#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace halogen::text {
namespace {

TokenId find(const Trie& trie, std::string_view text) {
  const Trie::Node node = trie.walk(text);
  return node == Trie::kNone ? kNoToken : trie.id(node);
}

TEST(Trie, FindsTextsAndTheirBeginnings) {
  const std::vector<std::string_view> texts = {"ab", "", "a", "abc", "b\xFFz", "ab"};
  const Trie trie(texts);
  EXPECT_EQ(find(trie, "a"), 2);
  EXPECT_EQ(find(trie, "ab"), 0);  // of equal texts the lowest id
  EXPECT_EQ(find(trie, "abc"), 3);
  EXPECT_EQ(find(trie, "b\xFFz"), 4);
  EXPECT_EQ(find(trie, "b"), kNoToken);
  EXPECT_NE(trie.walk("b"), Trie::kNone);
  EXPECT_EQ(trie.walk("c"), Trie::kNone);
  EXPECT_EQ(trie.walk("abcd"), Trie::kNone);
  EXPECT_EQ(find(trie, ""), kNoToken);
}

TEST(Trie, OfNothingHasOnlyItsRoot) {
  const Trie trie;
  for (int byte = 0; byte < 256; ++byte) {
    EXPECT_EQ(trie.child(Trie::kRoot, static_cast<char>(byte)), Trie::kNone);
  }
}

// Dense and sparse nodes, of every byte.
TEST(Trie, HoldsExactlyWhatWasPutIn) {
  std::mt19937 random(1);
  for (int round = 0; round < 40; ++round) {
    const uint32_t alphabet = round % 4 == 0 ? 256 : 1 + random() % 8;
    const auto random_text = [&] {
      std::string text(random() % 7, '\0');
      for (char& byte : text) byte = static_cast<char>(random() % alphabet);
      return text;
    };
    std::vector<std::string> texts(random() % 3000);
    for (std::string& text : texts) text = random_text();
    std::map<std::string, TokenId> expected;
    for (size_t id = texts.size(); id-- > 0;) expected[texts[id]] = static_cast<TokenId>(id);
    expected[""] = kNoToken;
    const Trie trie({texts.begin(), texts.end()});
    for (const auto& [text, id] : expected) EXPECT_EQ(find(trie, text), id);
    for (int i = 0; i < 1000; ++i) {
      const std::string text = random_text();
      const auto found = expected.find(text);
      EXPECT_EQ(find(trie, text), found == expected.end() ? kNoToken : found->second);
    }
  }
}

}  // namespace
}  // namespace halogen::text
