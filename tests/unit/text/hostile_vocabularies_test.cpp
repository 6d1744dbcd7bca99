// Vocabularies that no sane tool wrote: whatever they hold, making a tokenizer either fails with
// one sentence or yields one whose ids are tokens.
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/text/small_vocabulary.h"

namespace halogen::text {
namespace {

using testing::add_token;
using testing::encode;
using testing::make_tokenizer;

using Ids = std::vector<TokenId>;

std::string random_text(std::mt19937& random, size_t longest) {
  constexpr const char* kUnits[] = {"a", "b", "ab", "▁", " ", "<", ">", "\xE2", "\x96", "é", "\n"};
  std::string text;
  for (size_t i = random() % (longest + 1); i > 0; --i) text += kUnits[random() % 11];
  return text;
}

Vocabulary random_vocabulary(std::mt19937& random, const char* model) {
  Vocabulary vocabulary;
  vocabulary.model = model;
  vocabulary.pre = "gpt-2";
  const size_t size = 1 + random() % 40;
  const bool scored = vocabulary.model == "llama" || vocabulary.model == "t5";
  for (size_t i = 0; i < size; ++i) {
    vocabulary.tokens.push_back(random() % 8 == 0 ? "<0x61>" : random_text(random, 3));
    vocabulary.types.push_back(random() % 3 == 0 ? static_cast<int32_t>(random() % 9) - 1 : 1);
    if (scored) vocabulary.scores.push_back(-static_cast<float>(random() % 5));
    if (random() % 2 == 0) {
      vocabulary.merges.push_back("x" + random_text(random, 2) + " y" + random_text(random, 2));
      vocabulary.merges.push_back(vocabulary.tokens[random() % (i + 1)] + "a a");
    }
  }
  const auto some_id = [&] { return static_cast<TokenId>(random() % (size + 1)) - 1; };
  vocabulary.bos = some_id();
  vocabulary.eos = some_id();
  vocabulary.unk = some_id();
  vocabulary.sep = some_id();
  vocabulary.space_prefix = static_cast<SpacePrefix>(random() % 3);
  return vocabulary;
}

TEST(HostileVocabularies, YieldTokensOrASentence) {
  std::mt19937 random(11);
  size_t made = 0;
  for (int round = 0; round < 400; ++round) {
    constexpr const char* kModels[] = {"gpt2", "gemma4", "llama", "t5", "bert"};
    const Vocabulary vocabulary = random_vocabulary(random, kModels[round % 5]);
    const auto size = static_cast<TokenId>(vocabulary.tokens.size());
    const auto tokenizer = Tokenizer::create(vocabulary);
    if (!tokenizer.ok()) {
      EXPECT_FALSE(tokenizer.error().message.empty());
      continue;
    }
    made++;
    for (int i = 0; i < 10; ++i) {
      const std::string text = random_text(random, 30);
      const Ids ids =
          encode(**tokenizer, text,
                 {.add_special = random() % 2 == 0, .parse_special = random() % 2 == 0});
      for (const TokenId id : ids) EXPECT_TRUE(id >= 0 && id < size) << id;
      EXPECT_LE((*tokenizer)->decode(ids, false).size(), 8 * (text.size() + 10));
    }
  }
  EXPECT_GE(made, 200U);
}

TEST(HostileVocabularies, OfEqualTokensTheFirstCounts) {
  for (const char* model : {"gpt2", "llama", "t5", "bert"}) {
    Vocabulary vocabulary;
    vocabulary.model = model;
    vocabulary.pre = "gpt-2";
    vocabulary.space_prefix = SpacePrefix::kNever;
    const char* a = vocabulary.model == "bert" ? "▁a" : "a";
    add_token(vocabulary, "", TokenType::kNormal);
    add_token(vocabulary, a, TokenType::kNormal, -2);
    add_token(vocabulary, a, TokenType::kNormal, -1);
    add_token(vocabulary, "", TokenType::kControl);
    add_token(vocabulary, "", TokenType::kUserDefined);
    EXPECT_EQ(encode(*make_tokenizer(vocabulary), "a", {.parse_special = true}), (Ids{1})) << model;
  }
}

TEST(HostileVocabularies, ATokenOfAMegabyteIsNoTrouble) {
  for (const char* model : {"gpt2", "gemma4", "bert"}) {
    Vocabulary vocabulary;
    vocabulary.model = model;
    vocabulary.pre = "gpt-2";
    add_token(vocabulary, std::string(size_t{1} << 20U, 'a'), TokenType::kNormal);
    add_token(vocabulary, "a", TokenType::kNormal);
    const auto tokenizer = make_tokenizer(vocabulary);
    const Ids ids = encode(*tokenizer, std::string(size_t{1} << 18U, 'a'));
    EXPECT_LE(ids.size(), size_t{1} << 18U) << model;
  }
}

}  // namespace
}  // namespace halogen::text
