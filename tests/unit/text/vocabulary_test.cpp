#include "core/text/vocabulary.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "tests/unit/text/small_vocabulary.h"

namespace halogen::text {
namespace {

using testing::add_token;
using testing::byte_level_vocabulary;
using testing::sentence_piece_vocabulary;

void expect_error(Vocabulary vocabulary, halogen_status status, std::string_view part) {
  const Status result = complete_vocabulary(vocabulary);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().status, status);
  EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
}

TEST(Vocabulary, NamesWhatItDoesNotKnow) {
  Vocabulary other = byte_level_vocabulary();
  other.model = "rwkv";
  expect_error(other, HALOGEN_E_UNSUPPORTED, "'rwkv' are not supported; known are 'gpt2'");
  other = byte_level_vocabulary();
  other.pre = "no-such";
  expect_error(other, HALOGEN_E_UNSUPPORTED, "'no-such' is not known; known are a.x-4.0,");
}

TEST(Vocabulary, RefusesArraysThatDisagree) {
  Vocabulary broken;
  broken.model = "gpt2";
  expect_error(broken, HALOGEN_E_INVALID, "has no tokens");
  broken = byte_level_vocabulary();
  broken.types.pop_back();
  expect_error(broken, HALOGEN_E_INVALID, "256 tokens but 255 token types");
  broken = byte_level_vocabulary();
  broken.strip_flags = {0};
  expect_error(broken, HALOGEN_E_INVALID, "1 strip flags");
  broken = sentence_piece_vocabulary({});
  broken.scores.clear();
  expect_error(broken, HALOGEN_E_INVALID, "0 scores");
  broken = sentence_piece_vocabulary({{"a", std::nanf("")}});
  expect_error(broken, HALOGEN_E_INVALID, "score of token 259 is not a finite number");
  broken = byte_level_vocabulary();
  broken.eos = 256;
  expect_error(broken, HALOGEN_E_INVALID, "the eos token is 256, but ids end at 255");
  broken = byte_level_vocabulary();
  broken.end_of_generation = {-7};
  expect_error(broken, HALOGEN_E_INVALID, "the end-of-generation token is -7");
}

TEST(Vocabulary, FillsInTheCustomaryFlags) {
  Vocabulary sentence_piece = sentence_piece_vocabulary({});
  ASSERT_TRUE(complete_vocabulary(sentence_piece));
  EXPECT_EQ(sentence_piece.unk, 0);
  EXPECT_EQ(sentence_piece.bos, 1);
  EXPECT_EQ(sentence_piece.eos, 2);
  EXPECT_EQ(sentence_piece.add_bos, true);
  EXPECT_EQ(sentence_piece.add_eos, false);
  EXPECT_EQ(sentence_piece.space_prefix, SpacePrefix::kEveryFragment);

  Vocabulary llama3 = byte_level_vocabulary();
  llama3.pre = "llama-bpe";
  llama3.bos = 7;
  ASSERT_TRUE(complete_vocabulary(llama3));
  EXPECT_EQ(llama3.add_bos, true);
  EXPECT_EQ(llama3.ignore_merges, true);
  EXPECT_EQ(llama3.normalize_nfc, false);
  EXPECT_EQ(llama3.space_prefix, SpacePrefix::kNever);

  Vocabulary qwen = byte_level_vocabulary();
  qwen.pre = "qwen2";
  ASSERT_TRUE(complete_vocabulary(qwen));
  EXPECT_EQ(qwen.add_bos, false);
  EXPECT_EQ(qwen.ignore_merges, false);
  EXPECT_EQ(qwen.normalize_nfc, true);
}

TEST(Vocabulary, LeavesWhatTheFileSays) {
  Vocabulary vocabulary = sentence_piece_vocabulary({});
  vocabulary.bos = 5;
  vocabulary.add_bos = false;
  vocabulary.space_prefix = SpacePrefix::kNever;
  ASSERT_TRUE(complete_vocabulary(vocabulary));
  EXPECT_EQ(vocabulary.bos, 5);
  EXPECT_EQ(vocabulary.eos, kNoToken);
  EXPECT_EQ(vocabulary.add_bos, false);
  EXPECT_EQ(vocabulary.space_prefix, SpacePrefix::kNever);
}

TEST(Vocabulary, AddsNoTokenThatItDoesNotHave) {
  Vocabulary vocabulary = byte_level_vocabulary();
  vocabulary.add_bos = true;
  vocabulary.add_eos = true;
  ASSERT_TRUE(complete_vocabulary(vocabulary));
  EXPECT_EQ(vocabulary.add_bos, false);
  EXPECT_EQ(vocabulary.add_eos, false);
}

TEST(Vocabulary, CollectsTheTokensThatEndAGeneration) {
  Vocabulary vocabulary = byte_level_vocabulary();
  add_token(vocabulary, "<|endoftext|>", TokenType::kControl);  // 256
  add_token(vocabulary, "<|im_start|>", TokenType::kControl);
  add_token(vocabulary, "<|im_end|>", TokenType::kControl);  // 258
  add_token(vocabulary, "<|user|>", TokenType::kControl);
  add_token(vocabulary, "</s>", TokenType::kNormal);  // text like any other here
  vocabulary.eos = 258;
  vocabulary.eot = 9;
  vocabulary.end_of_generation = {65, 9};
  ASSERT_TRUE(complete_vocabulary(vocabulary));
  EXPECT_EQ(vocabulary.end_of_generation, (std::vector<TokenId>{9, 65, 256, 258}));
  ASSERT_TRUE(complete_vocabulary(vocabulary));
  EXPECT_EQ(vocabulary.end_of_generation, (std::vector<TokenId>{9, 65, 256, 258}));
}

TEST(Vocabulary, KnowsThatHarmonyGoesOnAfterEnd) {
  Vocabulary phi = byte_level_vocabulary();
  add_token(phi, "<|end|>", TokenType::kControl);
  Vocabulary harmony = phi;
  add_token(harmony, "<|return|>", TokenType::kControl);
  add_token(harmony, "<|call|>", TokenType::kControl);
  ASSERT_TRUE(complete_vocabulary(phi));
  ASSERT_TRUE(complete_vocabulary(harmony));
  EXPECT_EQ(phi.end_of_generation, (std::vector<TokenId>{256}));
  EXPECT_EQ(harmony.end_of_generation, (std::vector<TokenId>{257, 258}));
}

TEST(Vocabulary, KnowsThatGlmEndsWhereTheNextTurnBegins) {
  Vocabulary glm = byte_level_vocabulary();
  glm.pre = "glm4";
  add_token(glm, "<|user|>", TokenType::kControl);
  add_token(glm, "<|observation|>", TokenType::kControl);
  ASSERT_TRUE(complete_vocabulary(glm));
  EXPECT_EQ(glm.end_of_generation, (std::vector<TokenId>{256, 257}));
}

TEST(Vocabulary, WhatAFileSaysIsShownAsText) {
  Vocabulary vocabulary = testing::byte_level_vocabulary({{"a", "b"}});
  vocabulary.merges = {
      "a\xE8\x1B"
      "b"};
  const Status status = complete_vocabulary(vocabulary);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("'a\xEF\xBF\xBD\\x1bb'"), std::string::npos)
      << status.error().message;
}

}  // namespace
}  // namespace halogen::text
