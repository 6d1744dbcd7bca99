#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/text/small_vocabulary.h"

namespace halogen::text {
namespace {

using testing::add_token;
using testing::encode;
using testing::encode_to_texts;
using testing::make_tokenizer;

using Ids = std::vector<TokenId>;
using Texts = std::vector<std::string>;

Vocabulary words() {
  Vocabulary vocabulary;
  vocabulary.model = "bert";
  add_token(vocabulary, "[UNK]", TokenType::kUnknown);
  add_token(vocabulary, "[CLS]", TokenType::kControl);
  add_token(vocabulary, "[SEP]", TokenType::kControl);
  for (const char* text : {"▁un", "▁unable", "able", "a", "▁a", "▁,", "▁.", "▁é", "▁e", "▁你", "▁A",
                           "b", "▁ß", "▁'"}) {
    add_token(vocabulary, text, TokenType::kNormal);
  }
  return vocabulary;
}

TEST(WordPieceTokenizer, TakesTheLongestPieceFirst) {
  const auto tokenizer = make_tokenizer(words());
  EXPECT_EQ(encode_to_texts(*tokenizer, "unable unaable a"),
            (Texts{"▁unable", "▁un", "a", "able", "▁a"}));
  EXPECT_EQ(encode_to_texts(*tokenizer, "ununable unablea"), (Texts{"[UNK]", "▁unable", "a"}));
  EXPECT_EQ(encode(*tokenizer, ""), Ids{});
  EXPECT_EQ(encode(*tokenizer, " \t\n"), Ids{});
}

TEST(WordPieceTokenizer, SplitsAroundPunctuationAndIdeographs) {
  const auto tokenizer = make_tokenizer(words());
  EXPECT_EQ(encode_to_texts(*tokenizer, "a,a.a你a"),
            (Texts{"▁a", "▁,", "▁a", "▁.", "▁a", "▁你", "▁a"}));
}

TEST(WordPieceTokenizer, DropsCaseAndAccentsIfTheVocabularyDoes) {
  Vocabulary vocabulary = words();
  const auto lower = make_tokenizer(vocabulary);
  EXPECT_EQ(encode_to_texts(*lower, "A é e\u0301 É ẞ UNABLE"),
            (Texts{"▁a", "▁e", "▁e", "▁e", "▁ß", "▁unable"}));
  vocabulary.lowercase = false;
  EXPECT_EQ(encode_to_texts(*make_tokenizer(vocabulary), "A é UN"), (Texts{"▁A", "▁é", "[UNK]"}));
}

TEST(WordPieceTokenizer, LeavesControlCharactersOut) {
  const auto tokenizer = make_tokenizer(words());
  EXPECT_EQ(encode_to_texts(*tokenizer, std::string("u\0n\u200D\uFFFD\x0B\xFF"
                                                    "able",
                                                    15)),
            (Texts{"▁unable"}));
  EXPECT_EQ(encode_to_texts(*tokenizer, "a\u00A0a\u2028a"), (Texts{"▁a", "▁a", "▁a"}));
}

TEST(WordPieceTokenizer, LetsNoWordHaveMoreThanAHundredCharacters) {
  const auto tokenizer = make_tokenizer(words());
  EXPECT_EQ(encode(*tokenizer, std::string(100, 'a')).size(), 100U);
  EXPECT_EQ(encode_to_texts(*tokenizer, std::string(101, 'a')), (Texts{"[UNK]"}));
  EXPECT_EQ(encode_to_texts(*tokenizer, std::string(1U << 20U, 'a')), (Texts{"[UNK]"}));
}

TEST(WordPieceTokenizer, PutsItsOwnMarksAroundTexts) {
  Vocabulary vocabulary = words();
  const auto tokenizer = make_tokenizer(vocabulary);
  EXPECT_EQ(encode(*tokenizer, "a", {.add_special = true}), (Ids{1, 7, 2}));
  Ids pair;
  ASSERT_TRUE(tokenizer->encode_pair("a", "e", false, pair));
  EXPECT_EQ(pair, (Ids{1, 7, 2, 11, 2}));
  vocabulary.add_sep = true;
  pair.clear();
  ASSERT_TRUE(make_tokenizer(vocabulary)->encode_pair("a", "e", false, pair));
  EXPECT_EQ(pair, (Ids{1, 7, 2, 2, 11, 2}));
  EXPECT_EQ(encode(*tokenizer, "a[SEP]a", {.parse_special = true}), (Ids{7, 2, 7}));
}

TEST(WordPieceTokenizer, DecodesWithPunctuationCloseToTheWord) {
  const auto tokenizer = make_tokenizer(words());
  const Ids ids = {1, 3, 5, 8, 7, 0, 9, 2};
  EXPECT_EQ(tokenizer->decode(ids), "unable, a.");
  EXPECT_EQ(tokenizer->decode(ids, false), "[CLS] unable, a [UNK]. [SEP]");
}

}  // namespace
}  // namespace halogen::text
