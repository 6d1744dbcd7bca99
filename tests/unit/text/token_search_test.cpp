#include "core/text/token_search.h"

#include <algorithm>
#include <set>
#include <utility>

#include "tests/unit/text/small_vocabulary.h"

namespace halogen::text {
namespace {

using testing::byte_level_vocabulary;
using testing::make_tokenizer;
using testing::sentence_piece_vocabulary;

using Ids = std::vector<TokenId>;

Ids found(const TokenSearch& search, const std::vector<std::string>& texts) {
  const auto sequences = search.sequences(texts);
  EXPECT_TRUE(sequences) << sequences.error().message;
  return sequences && *sequences ? **sequences : Ids{};
}

TEST(TokenSearch, FindsEveryTokenThatContainsTheText) {
  // 256 "a\n", 257 "\n\n", 258 "ab"
  const auto tokenizer =
      make_tokenizer(byte_level_vocabulary({{"a", "\n"}, {"\n", "\n"}, {"a", "b"}}));
  const TokenSearch search(*tokenizer);
  EXPECT_EQ(found(search, {"\n"}), (Ids{'\n', -1, 256, -1, 257, -1}));
  EXPECT_EQ(found(search, {"\n"}), (Ids{'\n', -1, 256, -1, 257, -1}));  // as it remembers it
  EXPECT_EQ(found(search, {""}), Ids{});
}

TEST(TokenSearch, FindsTokensThatBeginTheTextWithTheTokensOfItsRest) {
  // 256 "ab", 257 "bc", 258 "xa": "abc" is "ab" + "c", "a" or "xa" + "bc".
  const auto tokenizer =
      make_tokenizer(byte_level_vocabulary({{"a", "b"}, {"b", "c"}, {"x", "a"}}));
  const TokenSearch search(*tokenizer);
  EXPECT_EQ(found(search, {"abc"}), (Ids{256, 'c', -1, 'a', 257, -1, 258, 257, -1}));
}

TEST(TokenSearch, ATokenThatSaysAllOfItIsOneSequence) {
  // 256 "aa": "aa" is that token, or two of "a", or one that ends with "a" and another.
  const auto tokenizer = make_tokenizer(byte_level_vocabulary({{"a", "a"}}));
  const TokenSearch search(*tokenizer);
  EXPECT_EQ(found(search, {"aa"}), (Ids{256, -1, 'a', 'a', -1}));
}

TEST(TokenSearch, DoesNotReachOverTheEndOfAToken) {
  // The pieces of tokens 'y' and 'z' lie side by side, but no token says "yz".
  const auto tokenizer = make_tokenizer(byte_level_vocabulary());
  const TokenSearch search(*tokenizer);
  EXPECT_EQ(found(search, {"yz"}), (Ids{'y', 'z', -1}));
}

TEST(TokenSearch, TheRestHasNoSpaceBeforeItInASentencePieceVocabulary) {
  Vocabulary vocabulary =
      sentence_piece_vocabulary({{"▁", -10}, {"a", -10}, {"b", -10}, {"▁b", -1}});
  vocabulary.space_prefix = SpacePrefix::kEveryFragment;
  const auto tokenizer = make_tokenizer(std::move(vocabulary));
  const TokenSearch search(*tokenizer);
  const TokenId a = tokenizer->id_of("a"), b = tokenizer->id_of("b");
  const TokenId byte_a = 3 + 'a';
  EXPECT_EQ(found(search, {"ab"}), (Ids{byte_a, b, -1, a, b, -1}));
}

// Many texts that begin in many tokens: a token for every two letters of a few.
TEST(TokenSearch, AgreesWithALookAtEveryTokenAndEverySplit) {
  const std::string letters = "abcs";
  std::vector<std::pair<std::string, std::string>> merges;
  for (const char a : letters)
    for (const char b : letters) merges.emplace_back(std::string(1, a), std::string(1, b));
  const auto tokenizer = make_tokenizer(byte_level_vocabulary(merges));
  const TokenSearch search(*tokenizer);
  const std::vector<std::string> texts = {"s", "ab", "sab", "sabc", "ab", "ssss", ""};
  std::set<Ids> expected;
  for (const std::string& text : texts) {
    for (TokenId id = 0; std::cmp_less(id, tokenizer->size()) && !text.empty(); id++) {
      const std::string piece(tokenizer->piece(id));
      if (piece.find(text) != std::string::npos) {
        expected.insert({id});
        continue;
      }
      for (size_t said = 1; said < text.size(); said++) {
        Ids sequence = {id};
        ASSERT_TRUE(tokenizer->encode(text.substr(said), {}, sequence));
        if (piece.ends_with(text.substr(0, said))) expected.insert(sequence);
      }
    }
  }
  const Ids all = found(search, texts);
  std::set<Ids> sequences;
  for (auto first = all.begin(); first != all.end();) {
    const auto end = std::find(first, all.end(), kNoToken);
    EXPECT_TRUE(sequences.emplace(first, end).second) << "twice";
    first = end + 1;
  }
  EXPECT_EQ(sequences, expected);
}

TEST(TokenSearch, RefusesTextsThatCanBeSaidInTooManyWays) {
  std::vector<std::pair<std::string, std::string>> merges;
  for (char a = '!'; a <= '~'; a++) merges.emplace_back(std::string(1, a), "s");
  const auto tokenizer = make_tokenizer(byte_level_vocabulary(merges));
  const TokenSearch search(*tokenizer);
  std::vector<std::string> texts;
  // After an "s", which ends 95 tokens, 31 bytes of a token each.
  for (size_t sequences = 0; sequences * 33 <= TokenSearch::kMostElements; sequences += 95) {
    std::string text = "s" + std::string(31, '.');
    text[31] = static_cast<char>('A' + texts.size() % 16);
    text[30] = static_cast<char>('A' + texts.size() / 16);
    texts.push_back(text);
  }
  const auto refused = search.sequences(texts);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status, HALOGEN_E_INVALID);
  EXPECT_EQ(refused.error().message,
            "the texts can be said in too many ways: in sequences of more than 262144 token ids "
            "together; ask for fewer, or shorter ones");
  texts.resize(16);
  EXPECT_TRUE(search.sequences(texts));
}

TEST(TokenSearch, RemembersWhatItHasFound) {
  const auto tokenizer = make_tokenizer(byte_level_vocabulary());
  const TokenSearch search(*tokenizer);
  const std::vector<std::string> texts = {"a", "b"};
  const TokenSequences first = *search.sequences(texts);
  EXPECT_EQ(*search.sequences(texts), first);
  for (int i = 0; i < 100; i++) EXPECT_TRUE(search.sequences(std::vector{std::to_string(i)}));
  EXPECT_EQ(**search.sequences(texts), *first);
}

}  // namespace
}  // namespace halogen::text
