#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/text/character_map_builder.h"
#include "tests/unit/text/small_vocabulary.h"

namespace halogen::text {
namespace {

using testing::add_token;
using testing::encode;
using testing::encode_to_texts;
using testing::make_tokenizer;

using Ids = std::vector<TokenId>;
using Texts = std::vector<std::string>;

// 0 <unk>, 1 </s>, then the pieces.
Vocabulary unigram(const std::vector<std::pair<std::string, float>>& pieces) {
  Vocabulary vocabulary;
  vocabulary.model = "t5";
  add_token(vocabulary, "<unk>", TokenType::kUnknown);
  add_token(vocabulary, "</s>", TokenType::kControl);
  for (const auto& [text, score] : pieces) add_token(vocabulary, text, TokenType::kNormal, score);
  return vocabulary;
}

Vocabulary words() {
  return unigram(
      {{"▁", -2}, {"a", -4}, {"b", -4}, {"ab", -5}, {"▁a", -3}, {"bb", -9}, {"▁ab", -8}});
}

TEST(UnigramTokenizer, TakesTheWayOfTheBestSum) {
  const auto tokenizer = make_tokenizer(words());
  EXPECT_EQ(encode_to_texts(*tokenizer, "ab"), (Texts{"▁", "ab"}));  // -7; "▁a", "b" is no better
  EXPECT_EQ(encode_to_texts(*tokenizer, "bb"), (Texts{"▁", "b", "b"}));  // -10 against -11
  EXPECT_EQ(encode_to_texts(*tokenizer, "bab"), (Texts{"▁", "b", "ab"}));
}

// Against all ways to cut short words.
TEST(UnigramTokenizer, FindsTheBestOfAllWays) {
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    std::vector<std::pair<std::string, float>> pieces = {{"a", -1}, {"b", -1}, {"c", -1}};
    for (auto& piece : pieces) piece.second = -static_cast<float>(random() % 1000) / 64;
    for (int i = 0; i < 8; ++i) {
      std::string text(2 + random() % 3, ' ');
      for (char& letter : text) letter = static_cast<char>('a' + random() % 3);
      const bool known =
          std::ranges::any_of(pieces, [&](auto& piece) { return piece.first == text; });
      if (!known) pieces.emplace_back(text, -static_cast<float>(random() % 2000) / 64);
    }
    Vocabulary vocabulary = unigram(pieces);
    vocabulary.space_prefix = SpacePrefix::kNever;
    const auto tokenizer = make_tokenizer(vocabulary);
    std::string word(1 + random() % 10, ' ');
    for (char& letter : word) letter = static_cast<char>('a' + random() % 3);

    std::vector<double> best(word.size() + 1, -std::numeric_limits<double>::infinity());
    best[0] = 0;
    for (size_t end = 1; end <= word.size(); ++end) {
      for (const auto& [text, score] : pieces) {
        if (text.size() > end || !word.substr(0, end).ends_with(text)) continue;
        best[end] = std::max(best[end], best[end - text.size()] + double{score});
      }
    }
    double sum = 0;
    std::string joined;
    for (const TokenId id : encode(*tokenizer, word)) {
      sum += double{vocabulary.scores[static_cast<size_t>(id)]};
      joined += vocabulary.tokens[static_cast<size_t>(id)];
    }
    EXPECT_EQ(joined, word);
    EXPECT_DOUBLE_EQ(sum, best.back()) << word;
  }
}

TEST(UnigramTokenizer, MakesOneUnknownTokenOfARun) {
  const auto tokenizer = make_tokenizer(words());
  EXPECT_EQ(encode(*tokenizer, "a你好b"), (Ids{6, 0, 4}));
  EXPECT_EQ(encode(*tokenizer, "你 好"), (Ids{2, 0, 2, 0}));
  EXPECT_EQ(encode(*tokenizer, "a\xFF\xFE"), (Ids{6, 0}));
  EXPECT_EQ(encode(*tokenizer, "你<unk>好", {.parse_special = true}), (Ids{2, 0, 0, 2, 0}));
  EXPECT_EQ(tokenizer->decode(Ids{6, 0, 4}, false), "a<unk>b");
}

TEST(UnigramTokenizer, SpellsUnknownCharactersInBytesIfItHasThem) {
  Vocabulary vocabulary = words();
  for (int byte = 0; byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof(text), "<0x%02X>", static_cast<unsigned>(byte));
    add_token(vocabulary, text, TokenType::kByte);
  }
  const auto tokenizer = make_tokenizer(vocabulary);
  EXPECT_EQ(encode_to_texts(*tokenizer, "aé"), (Texts{"▁a", "<0xC3>", "<0xA9>"}));
  EXPECT_EQ(tokenizer->decode(encode(*tokenizer, "aé你")), "aé你");
}

TEST(UnigramTokenizer, TidiesWhiteSpaceUnlessToldNotTo) {
  Vocabulary vocabulary = words();
  const auto tidy = make_tokenizer(vocabulary);
  EXPECT_EQ(encode_to_texts(*tidy, "  a \n\u3000 a\t"), (Texts{"▁a", "▁a"}));
  EXPECT_EQ(encode(*tidy, " \n "), Ids{});
  EXPECT_EQ(encode(*tidy, ""), Ids{});
  EXPECT_EQ(encode_to_texts(*tidy, "a</s> a", {.parse_special = true}),
            (Texts{"▁a", "</s>", "▁a"}));
  vocabulary.remove_extra_spaces = false;
  EXPECT_EQ(encode_to_texts(*make_tokenizer(vocabulary), " a  a "),
            (Texts{"▁", "▁a", "▁", "▁a", "▁"}));
  vocabulary.space_prefix = SpacePrefix::kNever;
  EXPECT_EQ(encode_to_texts(*make_tokenizer(vocabulary), "a a"), (Texts{"a", "▁a"}));
}

TEST(UnigramTokenizer, AppliesTheCharacterMapFirst) {
  Vocabulary vocabulary = words();
  vocabulary.character_map = testing::character_map({{"Ａ", "a"}, {"～", " "}});
  EXPECT_EQ(encode_to_texts(*make_tokenizer(vocabulary), "Ａ～Ａ"), (Texts{"▁a", "▁a"}));
  vocabulary.character_map = "??";
  const auto broken = Tokenizer::create(vocabulary);
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().status, HALOGEN_E_INVALID);
}

TEST(UnigramTokenizer, AddsTheEndByDefaultAndFindsItsSpecialTokens) {
  Vocabulary vocabulary = words();
  add_token(vocabulary, "<mask>", TokenType::kControl);
  const auto tokenizer = make_tokenizer(vocabulary);
  EXPECT_EQ(encode_to_texts(*tokenizer, "a", {.add_special = true}), (Texts{"▁a", "</s>"}));
  EXPECT_EQ(tokenizer->vocabulary().unk, 0);
  // The mask swallows the space before it.
  EXPECT_EQ(encode_to_texts(*tokenizer, "a <mask> a", {.parse_special = true}),
            (Texts{"▁a", "<mask>", "▁a"}));
}

TEST(UnigramTokenizer, EncodesWordsTheSameWhereverTheyStand) {
  const auto tokenizer = make_tokenizer(words());
  std::string text;
  Ids expected;
  std::mt19937 random(8);
  for (int i = 0; i < 300; ++i) {
    std::string word(1 + random() % 4, ' ');
    for (char& letter : word) letter = "abz"[random() % 3];
    const Ids ids = encode(*tokenizer, word);
    expected.insert(expected.end(), ids.begin(), ids.end());
    text += word + " ";
  }
  EXPECT_EQ(encode(*tokenizer, text), expected);
}

// A long word is worked through in pieces where no token crosses; tokens of two letters cross
// everywhere.
TEST(UnigramTokenizer, EncodesALongRunOfOneCharacter) {
  const auto tokenizer = make_tokenizer(words());
  for (const char* unit : {"a", "b", "ab", "z", " ", "\n", "😀", "e\u0301"}) {
    std::string text;
    while (text.size() < size_t{1} << 18U) text += unit;
    const Ids ids = encode(*tokenizer, text);
    if (unit[0] == 'a' || unit[0] == 'b') {
      EXPECT_EQ(tokenizer->decode(ids), text);
    } else {
      EXPECT_LE(ids.size(), 2U);
    }
  }
}

TEST(UnigramTokenizer, RefusesScoresAndTokensThatAreNone) {
  Vocabulary vocabulary = words();
  vocabulary.scores[3] = -std::numeric_limits<float>::infinity();
  auto broken = Tokenizer::create(vocabulary);
  ASSERT_FALSE(broken.ok());
  EXPECT_NE(broken.error().message.find("score of token 3 is not a finite number"),
            std::string::npos);
  vocabulary = words();
  add_token(vocabulary, std::string(5000, 'x'), TokenType::kNormal);
  broken = Tokenizer::create(vocabulary);
  ASSERT_FALSE(broken.ok());
  EXPECT_NE(broken.error().message.find("token 9 has 5000 bytes; the limit is 1024"),
            std::string::npos)
      << broken.error().message;
}

}  // namespace
}  // namespace halogen::text
