#include "core/text/token_search.h"

#include "tests/unit/text/small_vocabulary.h"

namespace halogen::text {
namespace {

using testing::byte_level_vocabulary;
using testing::make_tokenizer;
using testing::sentence_piece_vocabulary;

using Ids = std::vector<TokenId>;

Ids found(TokenSearch& search, std::string_view text) {
  const auto sequences = search.sequences(text);
  return {sequences.begin(), sequences.end()};
}

TEST(TokenSearch, FindsEveryTokenThatContainsTheText) {
  // 256 "a\n", 257 "\n\n", 258 "ab"
  const auto tokenizer =
      make_tokenizer(byte_level_vocabulary({{"a", "\n"}, {"\n", "\n"}, {"a", "b"}}));
  TokenSearch search(*tokenizer);
  EXPECT_EQ(found(search, "\n"), (Ids{'\n', -1, 256, -1, 257, -1}));
  EXPECT_EQ(found(search, "\n"), (Ids{'\n', -1, 256, -1, 257, -1}));  // as it remembers it
  EXPECT_EQ(found(search, ""), Ids{});
}

TEST(TokenSearch, FindsTokensThatBeginTheTextWithTheTokensOfItsRest) {
  // 256 "ab", 257 "bc", 258 "xa": "abc" is "ab" + "c", "a" or "xa" + "bc".
  const auto tokenizer =
      make_tokenizer(byte_level_vocabulary({{"a", "b"}, {"b", "c"}, {"x", "a"}}));
  TokenSearch search(*tokenizer);
  EXPECT_EQ(found(search, "abc"), (Ids{'a', 257, -1, 258, 257, -1, 256, 'c', -1}));
}

TEST(TokenSearch, ATokenThatSaysAllOfItIsOneSequence) {
  // 256 "aa": "aa" is that token, or two of "a", or one that ends with "a" and another.
  const auto tokenizer = make_tokenizer(byte_level_vocabulary({{"a", "a"}}));
  TokenSearch search(*tokenizer);
  EXPECT_EQ(found(search, "aa"), (Ids{256, -1, 'a', 'a', -1}));
}

TEST(TokenSearch, DoesNotReachOverTheEndOfAToken) {
  // The pieces of tokens 'y' and 'z' lie side by side, but no token says "yz".
  const auto tokenizer = make_tokenizer(byte_level_vocabulary());
  TokenSearch search(*tokenizer);
  EXPECT_EQ(found(search, "yz"), (Ids{'y', 'z', -1}));
}

TEST(TokenSearch, TheRestHasNoSpaceBeforeItInASentencePieceVocabulary) {
  Vocabulary vocabulary =
      sentence_piece_vocabulary({{"▁", -10}, {"a", -10}, {"b", -10}, {"▁b", -1}});
  vocabulary.space_prefix = SpacePrefix::kEveryFragment;
  const auto tokenizer = make_tokenizer(std::move(vocabulary));
  TokenSearch search(*tokenizer);
  const TokenId a = tokenizer->id_of("a"), b = tokenizer->id_of("b");
  const TokenId byte_a = 3 + 'a';
  EXPECT_EQ(found(search, "ab"), (Ids{byte_a, b, -1, a, b, -1}));
}

}  // namespace
}  // namespace halogen::text
