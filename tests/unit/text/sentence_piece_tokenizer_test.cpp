#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/text/token_pieces.h"
#include "tests/unit/text/small_vocabulary.h"

namespace halogen::text {
namespace {

using testing::add_token;
using testing::encode;
using testing::encode_to_texts;
using testing::make_tokenizer;
using testing::sentence_piece_vocabulary;

using Ids = std::vector<TokenId>;
using Texts = std::vector<std::string>;

TEST(TokenPieces, ReadsByteTokens) {
  EXPECT_EQ(byte_of_token("<0x0A>"), 10);
  EXPECT_EQ(byte_of_token("<0xff>"), 255);
  EXPECT_FALSE(byte_of_token("<0x0G>"));
  EXPECT_FALSE(byte_of_token("<0x->"));
  EXPECT_FALSE(byte_of_token("<0x0A"));
}

Vocabulary words() {
  return sentence_piece_vocabulary({{"▁", -10},
                                    {"a", -10},
                                    {"b", -10},
                                    {"c", -10},
                                    {"ab", -2},
                                    {"bc", -1},
                                    {"▁a", -3},
                                    {"abc", -4},
                                    {"▁▁", -5}});
}

TEST(SentencePieceTokenizer, MergesTheBestScoreFirst) {
  Vocabulary vocabulary = words();
  vocabulary.space_prefix = SpacePrefix::kNever;
  const auto tokenizer = make_tokenizer(vocabulary);
  EXPECT_EQ(encode_to_texts(*tokenizer, "abc"), (Texts{"abc"}));
  EXPECT_EQ(encode_to_texts(*tokenizer, "abcb"), (Texts{"abc", "b"}));
  EXPECT_EQ(encode_to_texts(*tokenizer, "cab"), (Texts{"c", "ab"}));
  EXPECT_EQ(encode_to_texts(*tokenizer, "a ab"), (Texts{"a", "▁", "ab"}));  // ab before ▁a
}

TEST(SentencePieceTokenizer, MergesTheLeftmostOfEqualScores) {
  Vocabulary vocabulary =
      sentence_piece_vocabulary({{"a", -9}, {"b", -9}, {"ab", -1}, {"ba", -1}, {"aa", -1}});
  vocabulary.space_prefix = SpacePrefix::kNever;
  const auto tokenizer = make_tokenizer(vocabulary);
  EXPECT_EQ(encode_to_texts(*tokenizer, "aba"), (Texts{"ab", "a"}));
  EXPECT_EQ(encode_to_texts(*tokenizer, "aaa"), (Texts{"aa", "a"}));
  EXPECT_EQ(encode_to_texts(*tokenizer, "bab"), (Texts{"ba", "b"}));
}

TEST(SentencePieceTokenizer, MergesCharactersThatAreNoTokens) {
  Vocabulary vocabulary = sentence_piece_vocabulary({{"xy", -1}, {"z", -1}});
  vocabulary.space_prefix = SpacePrefix::kNever;
  const auto tokenizer = make_tokenizer(vocabulary);
  EXPECT_EQ(encode_to_texts(*tokenizer, "xyzx"), (Texts{"xy", "z", "<0x78>"}));
}

TEST(SentencePieceTokenizer, FallsBackToBytes) {
  const auto tokenizer = make_tokenizer(words());
  EXPECT_EQ(encode_to_texts(*tokenizer, "a€\n"),
            (Texts{"▁a", "<0xE2>", "<0x82>", "<0xAC>", "<0x0A>"}));
  EXPECT_EQ(encode_to_texts(*tokenizer, "a\xFF"), (Texts{"▁a", "<0xFF>"}));
}

TEST(SentencePieceTokenizer, WritesTheUnknownTokenWithoutBytes) {
  Vocabulary vocabulary;
  vocabulary.model = "llama";
  add_token(vocabulary, "<unk>", TokenType::kUnknown);
  add_token(vocabulary, "a", TokenType::kNormal);
  vocabulary.space_prefix = SpacePrefix::kNever;
  vocabulary.unk = 0;
  EXPECT_EQ(encode(*make_tokenizer(vocabulary), "aéa"), (Ids{1, 0, 0, 1}));
}

TEST(SentencePieceTokenizer, NeverMergesTextIntoControlOrByteTokens) {
  Vocabulary vocabulary = sentence_piece_vocabulary(
      {{"<", -9}, {"s", -9}, {">", -9}, {"<s", -1}, {"0x41>", -1}, {"0", -9}, {"x", -9}});
  vocabulary.space_prefix = SpacePrefix::kNever;
  const auto tokenizer = make_tokenizer(vocabulary);
  EXPECT_EQ(encode_to_texts(*tokenizer, "<s>"), (Texts{"<s", ">"}));
  EXPECT_EQ(encode(*tokenizer, "<s>", {.parse_special = true}), (Ids{1}));
}

TEST(SentencePieceTokenizer, PutsTheSpaceWhereTheVocabularySays) {
  Vocabulary vocabulary = words();
  const EncodeOptions parse = {.parse_special = true};
  const auto every = make_tokenizer(vocabulary);
  EXPECT_EQ(encode_to_texts(*every, "a</s>a", parse), (Texts{"▁a", "</s>", "▁a"}));
  EXPECT_EQ(encode_to_texts(*every, " a", parse), (Texts{"▁", "▁a"}));
  EXPECT_EQ(encode_to_texts(*every, "", parse), Texts{});

  vocabulary.space_prefix = SpacePrefix::kTextStart;
  const auto start = make_tokenizer(vocabulary);
  EXPECT_EQ(encode_to_texts(*start, "a</s>a", parse), (Texts{"▁a", "</s>", "a"}));
  EXPECT_EQ(encode_to_texts(*start, "</s>a", parse), (Texts{"</s>", "a"}));
  EXPECT_EQ(encode_to_texts(*start, " a", parse), (Texts{"▁a"}));

  vocabulary.space_prefix = SpacePrefix::kNever;
  EXPECT_EQ(encode_to_texts(*make_tokenizer(vocabulary), "a", parse), (Texts{"a"}));
}

TEST(SentencePieceTokenizer, DecodesWithoutTheSpaceThatItAdded) {
  Vocabulary vocabulary = words();
  const auto prefixed = make_tokenizer(vocabulary);
  for (const char* text : {"a b", " a", "  a", "", "a"}) {
    EXPECT_EQ(prefixed->decode(encode(*prefixed, text, {.add_special = true})), text);
  }
  vocabulary.space_prefix = SpacePrefix::kNever;
  const auto plain = make_tokenizer(vocabulary);
  EXPECT_EQ(plain->decode(encode(*plain, " a")), " a");
}

TEST(SentencePieceTokenizer, AddsBeginByDefault) {
  EXPECT_EQ(encode_to_texts(*make_tokenizer(words()), "a", {.add_special = true}),
            (Texts{"<s>", "▁a"}));
}

TEST(SentencePieceTokenizer, FindsUserDefinedTokensBeforeMerging) {
  Vocabulary vocabulary = words();
  add_token(vocabulary, "▁▁▁", TokenType::kUserDefined);
  vocabulary.space_prefix = SpacePrefix::kNever;
  const auto tokenizer = make_tokenizer(vocabulary);
  EXPECT_EQ(encode_to_texts(*tokenizer, "a    a"), (Texts{"a", "▁▁▁", "▁a"}));
  EXPECT_EQ(tokenizer->decode(encode(*tokenizer, "a    a")), "a    a");
}

// A token with a space inside forbids splitting the text at spaces; the ids stay what they must be.
TEST(SentencePieceTokenizer, MergesAcrossSpacesWhereATokenDoes) {
  Vocabulary vocabulary = sentence_piece_vocabulary(
      {{"▁", -9}, {"a", -9}, {"b", -9}, {"▁b", -2}, {"a▁", -8}, {"a▁b", -3}});
  vocabulary.space_prefix = SpacePrefix::kNever;
  const auto tokenizer = make_tokenizer(vocabulary);
  EXPECT_EQ(encode_to_texts(*tokenizer, "a b"), (Texts{"a▁b"}));
  EXPECT_EQ(encode_to_texts(*tokenizer, "a a b"), (Texts{"a▁", "a▁b"}));
}

TEST(SentencePieceTokenizer, GivesAnyBytesBack) {
  const auto tokenizer = make_tokenizer(words());
  std::mt19937 random(4);
  for (int round = 0; round < 300; ++round) {
    std::string bytes(random() % 48, '\0');
    for (char& byte : bytes) {
      byte = random() % 2 == 0 ? "ab c"[random() % 4] : static_cast<char>(random());
    }
    EXPECT_EQ(tokenizer->decode(encode(*tokenizer, bytes), false), bytes);
  }
}

// With quadratic merging each of these would take minutes.
TEST(SentencePieceTokenizer, EncodesALongRunOfOneCharacter) {
  Vocabulary vocabulary = words();
  add_token(vocabulary, "aa", TokenType::kNormal, -5);
  add_token(vocabulary, "aaaa", TokenType::kNormal, -6);
  const auto tokenizer = make_tokenizer(vocabulary);
  for (const char character : {'a', ' ', '\n', 'z'}) {
    const std::string text(size_t{1} << 18U, character);
    EXPECT_EQ(tokenizer->decode(encode(*tokenizer, text), false), text);
  }
}

}  // namespace
}  // namespace halogen::text
