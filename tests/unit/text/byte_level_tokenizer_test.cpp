#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "core/text/byte_level.h"
#include "tests/unit/text/small_vocabulary.h"

namespace halogen::text {
namespace {

using testing::add_token;
using testing::byte_level_vocabulary;
using testing::encode;
using testing::encode_to_texts;
using testing::in_byte_alphabet;
using testing::make_tokenizer;

using Ids = std::vector<TokenId>;

TEST(ByteLevel, WritesEveryByteAsACharacter) {
  EXPECT_EQ(byte_level_bytes("\u0120the\u010A"), " the\n");
  EXPECT_EQ(byte_level_bytes("\u00C3\u00A9"), "é");
  for (int byte = 0; byte < 256; ++byte) {
    const std::string bytes(1, static_cast<char>(byte));
    EXPECT_EQ(byte_level_bytes(in_byte_alphabet(bytes)), bytes);
  }
  EXPECT_FALSE(byte_level_bytes(" "));
  EXPECT_FALSE(byte_level_bytes("你"));
}

TEST(ByteLevelTokenizer, MergesInTheOrderOfTheMerges) {
  const auto tokenizer =
      make_tokenizer(byte_level_vocabulary({{"b", "c"}, {"a", "b"}, {"a", "bc"}}));
  EXPECT_EQ(encode(*tokenizer, "abc"), (Ids{258}));
  EXPECT_EQ(encode(*tokenizer, "abd"), (Ids{257, 'd'}));
  EXPECT_EQ(encode(*tokenizer, "ababc"), (Ids{257, 258}));
  EXPECT_EQ(encode(*tokenizer, ""), Ids{});
}

TEST(ByteLevelTokenizer, DoesNotMergeAcrossWords) {
  const auto tokenizer = make_tokenizer(byte_level_vocabulary({{"a", " "}, {" ", "b"}}));
  EXPECT_EQ(encode(*tokenizer, "a b"), (Ids{'a', 257}));
}

TEST(ByteLevelTokenizer, TakesAWholeWordOnlyIfItsMergesBuildItOrAreIgnored) {
  Vocabulary vocabulary = byte_level_vocabulary({{"a", "b"}});
  add_token(vocabulary, "abc", TokenType::kNormal);  // 257, which no merge builds
  EXPECT_EQ(encode(*make_tokenizer(vocabulary), "abc"), (Ids{256, 'c'}));
  vocabulary.ignore_merges = true;
  EXPECT_EQ(encode(*make_tokenizer(vocabulary), "abc"), (Ids{257}));
}

TEST(ByteLevelTokenizer, GivesTheSameIdsForAWordSeenBefore) {
  const auto tokenizer = make_tokenizer(byte_level_vocabulary({{"a", "b"}, {"ab", "c"}}));
  EXPECT_EQ(encode(*tokenizer, "abc"), (Ids{257}));
  EXPECT_EQ(encode(*tokenizer, "abc"), (Ids{257}));
}

TEST(ByteLevelTokenizer, LeavesOutMergesThatCannotYieldATokenAndUsesTheRest) {
  Vocabulary vocabulary = byte_level_vocabulary({{"a", "b"}});
  vocabulary.merges.insert(vocabulary.merges.begin(), {"x y", "q zz"});
  EXPECT_EQ(encode(*make_tokenizer(vocabulary), "xyab"), (Ids{'x', 'y', 256}));
}

TEST(ByteLevelTokenizer, RefusesAMergeThatIsNotTwoParts) {
  for (const char* damaged : {"nonsense", "", " ", "a "}) {
    Vocabulary vocabulary = byte_level_vocabulary({{"a", "b"}});
    vocabulary.merges.emplace_back(damaged);
    const auto tokenizer = Tokenizer::create(std::move(vocabulary));
    ASSERT_FALSE(tokenizer.ok()) << damaged;
    EXPECT_NE(tokenizer.error().message.find("merge 1, '" + std::string(damaged) + "'"),
              std::string::npos)
        << tokenizer.error().message;
  }
}

TEST(ByteLevelTokenizer, EncodesAnyBytesAndGivesThemBack) {
  const auto tokenizer =
      make_tokenizer(byte_level_vocabulary({{"\xC3", "\xA9"}, {"\xFF", "\xFF"}}));
  EXPECT_EQ(encode(*tokenizer, "\xFF\xFF\xFFé"), (Ids{257, 0xFF, 256}));
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::string bytes(random() % 64, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    EXPECT_EQ(tokenizer->decode(encode(*tokenizer, bytes), false), bytes);
  }
}

TEST(ByteLevelTokenizer, WritesTheUnknownTokenForAByteItLacks) {
  Vocabulary vocabulary = byte_level_vocabulary();
  vocabulary.tokens['z'] = "zz";
  EXPECT_EQ(encode(*make_tokenizer(vocabulary), "az"), (Ids{'a'}));
  add_token(vocabulary, "<unk>", TokenType::kUnknown);
  vocabulary.unk = 256;
  EXPECT_EQ(encode(*make_tokenizer(vocabulary), "az"), (Ids{'a', 256}));
}

TEST(ByteLevelTokenizer, AddsBeginAndEndWhenAsked) {
  Vocabulary vocabulary = byte_level_vocabulary();
  vocabulary.bos = 1;
  vocabulary.eos = 2;
  vocabulary.add_bos = true;
  EXPECT_EQ(encode(*make_tokenizer(vocabulary), "a", {.add_special = true}), (Ids{1, 'a'}));
  vocabulary.add_eos = true;
  const auto tokenizer = make_tokenizer(vocabulary);
  EXPECT_EQ(encode(*tokenizer, "a", {.add_special = true}), (Ids{1, 'a', 2}));
  EXPECT_EQ(encode(*tokenizer, "", {.add_special = true}), (Ids{1, 2}));
  EXPECT_EQ(encode(*tokenizer, "a"), (Ids{'a'}));
}

TEST(ByteLevelTokenizer, AppendsToWhatIsThere) {
  const auto tokenizer = make_tokenizer(byte_level_vocabulary());
  Ids ids = {7};
  ASSERT_TRUE(tokenizer->encode("a", {}, ids));
  EXPECT_EQ(ids, (Ids{7, 'a'}));
}

Vocabulary with_special_tokens() {
  Vocabulary vocabulary = byte_level_vocabulary();
  add_token(vocabulary, "<|end|>", TokenType::kControl);      // 256
  add_token(vocabulary, "<think>", TokenType::kUserDefined);  // 257
  add_token(vocabulary, "<|end|>!", TokenType::kControl);     // 258
  return vocabulary;
}

TEST(ByteLevelTokenizer, ReadsControlTokensOnlyWhenAskedAndUserDefinedOnesAlways) {
  const auto tokenizer = make_tokenizer(with_special_tokens());
  const EncodeOptions parse = {.parse_special = true};
  EXPECT_EQ(encode(*tokenizer, "a<|end|>b<think>", parse), (Ids{'a', 256, 'b', 257}));
  EXPECT_EQ(encode(*tokenizer, "a<|end|>!", parse), (Ids{'a', 258}));
  EXPECT_EQ(encode(*tokenizer, "<|end|><|end|>", parse), (Ids{256, 256}));
  EXPECT_EQ(encode(*tokenizer, "<|end|><think>"), (Ids{'<', '|', 'e', 'n', 'd', '|', '>', 257}));
}

TEST(ByteLevelTokenizer, StripsWhiteSpaceBesideTokensThatOwnIt) {
  Vocabulary vocabulary = with_special_tokens();
  vocabulary.strip_flags.assign(vocabulary.tokens.size(), 0);
  vocabulary.strip_flags[256] = kStripRight;
  vocabulary.strip_flags[257] = kStripLeft | kStripRight;
  const auto tokenizer = make_tokenizer(vocabulary);
  const EncodeOptions parse = {.parse_special = true};
  EXPECT_EQ(encode(*tokenizer, "a <|end|> \nb", parse), (Ids{'a', ' ', 256, 'b'}));
  EXPECT_EQ(encode(*tokenizer, "a \t<think> <think>  ", parse), (Ids{'a', 257, 257}));
}

TEST(ByteLevelTokenizer, NormalisesTextButNotSpecialTokens) {
  Vocabulary vocabulary = byte_level_vocabulary({{"\xC3", "\xA9"}});
  add_token(vocabulary, "e\u0301!", TokenType::kControl);  // 257
  vocabulary.pre = "qwen2";
  const auto tokenizer = make_tokenizer(vocabulary);
  EXPECT_EQ(encode(*tokenizer, "e\u0301", {.parse_special = true}), (Ids{256}));
  EXPECT_EQ(encode(*tokenizer, "e\u0301!", {.parse_special = true}), (Ids{257}));
  vocabulary.normalize_nfc = false;
  EXPECT_EQ(encode(*make_tokenizer(vocabulary), "e\u0301"), (Ids{'e', 0xCC, 0x81}));
}

TEST(ByteLevelTokenizer, SplitsWithTheFilesOwnPatterns) {
  Vocabulary vocabulary = byte_level_vocabulary({{"a", "a"}});
  vocabulary.pre = "unheard-of";
  vocabulary.split_patterns = {"a{1,3}"};
  EXPECT_EQ(encode(*make_tokenizer(vocabulary), "aaaa"), (Ids{256, 'a', 'a'}));
  vocabulary.split_patterns = {"a{", " ("};
  const auto broken = Tokenizer::create(vocabulary);
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().status, HALOGEN_E_INVALID);
}

TEST(ByteLevelTokenizer, AnswersQuestionsAboutTokens) {
  Vocabulary vocabulary = with_special_tokens();
  vocabulary.eos = 5;
  const auto tokenizer = make_tokenizer(vocabulary);
  EXPECT_EQ(tokenizer->size(), 259U);
  EXPECT_EQ(tokenizer->piece(' '), " ");
  EXPECT_EQ(tokenizer->piece(256), "<|end|>");
  EXPECT_EQ(tokenizer->piece(-1), "");
  EXPECT_EQ(tokenizer->piece(259), "");
  EXPECT_EQ(tokenizer->id_of("<think>"), 257);
  EXPECT_EQ(tokenizer->id_of("\u0120"), ' ');
  EXPECT_EQ(tokenizer->id_of("none"), kNoToken);
  EXPECT_TRUE(tokenizer->is_special(256));
  EXPECT_FALSE(tokenizer->is_special(257));
  EXPECT_FALSE(tokenizer->is_special(9999));
  EXPECT_TRUE(tokenizer->is_eog(256));
  EXPECT_TRUE(tokenizer->is_eog(5));
  EXPECT_FALSE(tokenizer->is_eog(-1));
  const Ids ids = {'a', 256, 257, 9999};
  EXPECT_EQ(tokenizer->decode(ids, true), "a<think>");
  EXPECT_EQ(tokenizer->decode(ids, false), "a<|end|><think>");
}

TEST(ByteLevelTokenizer, RefusesTextThatIsTooLong) {
  const auto tokenizer = make_tokenizer(byte_level_vocabulary());
  const char byte = 'a';
  Ids ids = {7};
  const Status status = tokenizer->encode({&byte, size_t{1} << 30U}, {}, ids);  // not read
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().status, HALOGEN_E_INVALID);
  EXPECT_EQ(ids, (Ids{7}));
}

// With quadratic merging each of these would take minutes.
TEST(ByteLevelTokenizer, EncodesALongRunOfOneCharacter) {
  for (const char* pre : {"gpt-2", "llama-bpe", "qwen2", "gpt-4o", "deepseek-llm", "deepseek-v3"}) {
    for (const char character : {'a', 'A', ' ', '\n', '7', '!'}) {
      const std::string twice(2, character);
      const std::string once(1, character);
      Vocabulary vocabulary = byte_level_vocabulary({{once, once}, {twice, twice}});
      vocabulary.pre = pre;
      const auto tokenizer = make_tokenizer(std::move(vocabulary));
      const std::string text = std::string(size_t{1} << 18U, character) + "x";
      EXPECT_EQ(tokenizer->decode(encode(*tokenizer, text), false), text);
    }
  }
}

TEST(ByteLevelTokenizer, ServesManyThreads) {
  const auto tokenizer =
      make_tokenizer(byte_level_vocabulary({{"t", "h"}, {"th", "e"}, {" ", "the"}}));
  const std::string text = "the cat and the hat and then the rest; cafe\u0301";
  const Ids expected =
      encode(*make_tokenizer(byte_level_vocabulary({{"t", "h"}, {"th", "e"}, {" ", "the"}})), text);
  std::vector<Ids> results(4);
  {
    std::vector<std::jthread> threads;
    for (Ids& result : results) {
      threads.emplace_back([&] {
        for (int round = 0; round < 50; ++round) {
          result.clear();
          if (!tokenizer->encode(text, {}, result)) result.clear();
        }
      });
    }
  }
  for (const Ids& result : results) EXPECT_EQ(result, expected);
}

}  // namespace
}  // namespace halogen::text
