#include "tests/fuzz/small_vocabularies.h"

#include <cstdio>
#include <utility>

#include "core/text/utf8.h"
#include "tests/fuzz/fuzz.h"

namespace halogen::fuzz {
namespace {

using text::TokenType;
using text::Vocabulary;

void add(Vocabulary& vocabulary, std::string token, TokenType type, float score = 0) {
  vocabulary.tokens.push_back(std::move(token));
  vocabulary.types.push_back(static_cast<int32_t>(type));
  if (vocabulary.model == "llama") vocabulary.scores.push_back(score);
}

// Bytes as a byte-level vocabulary writes them: the printable ones of Latin-1 as themselves, the
// others as the characters from U+0100 on.
std::string in_byte_alphabet(std::string_view bytes) {
  std::string written;
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    const bool itself = (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
    const uint32_t rank = byte <= 0x20 ? byte : byte <= 0xA0 ? byte - 0x7FU + 0x21U : 67U;
    text::append_character(itself ? byte : 0x100U + rank, written);
  }
  return written;
}

Vocabulary byte_level(const std::string& pre) {
  Vocabulary vocabulary;
  vocabulary.model = "gpt2";
  vocabulary.pre = pre;
  for (int byte = 0; byte < 256; byte++) {
    const char one = static_cast<char>(byte);
    add(vocabulary, in_byte_alphabet({&one, 1}), TokenType::kNormal);
  }
  const std::pair<const char*, const char*> merges[] = {
      {"t", "h"}, {"th", "e"},  {" ", "the"}, {"a", "a"},       {"aa", "aa"},     {"1", "2"},
      {" ", " "}, {"  ", "  "}, {"\n", "\n"}, {"\xC3", "\xBC"}, {"\xF0", "\x9F"}, {"'", "s"}};
  for (const auto& [left, right] : merges) {
    add(vocabulary, in_byte_alphabet(std::string(left) + right), TokenType::kNormal);
    vocabulary.merges.push_back(in_byte_alphabet(left) + " " + in_byte_alphabet(right));
  }
  add(vocabulary, "<|im_end|>", TokenType::kControl);
  add(vocabulary, "<think>", TokenType::kUserDefined);
  vocabulary.eos = static_cast<text::TokenId>(vocabulary.tokens.size() - 2);
  return vocabulary;
}

Vocabulary sentence_piece() {
  Vocabulary vocabulary;
  vocabulary.model = "llama";
  add(vocabulary, "<unk>", TokenType::kUnknown);
  add(vocabulary, "<s>", TokenType::kControl);
  add(vocabulary, "</s>", TokenType::kControl);
  for (unsigned byte = 0; byte < 256; byte++) {
    char token[8];
    std::snprintf(token, sizeof token, "<0x%02X>", byte);
    add(vocabulary, token, TokenType::kByte);
  }
  float score = 0;
  for (const char* piece : {"▁", "t", "h", "e", "▁t", "he", "▁the", "▁▁", "▁▁▁▁", "a", "aa", "aaaa",
                            "ü", "1", "12", "😀"}) {
    add(vocabulary, piece, TokenType::kNormal, score -= 1);
  }
  return vocabulary;
}

SmallTokenizer make(std::string name, Vocabulary vocabulary, bool keeps_text) {
  auto tokenizer = text::Tokenizer::create(std::move(vocabulary));
  require(tokenizer.ok(), "a small vocabulary is valid", name);
  return {std::move(name), std::move(*tokenizer), keeps_text};
}

std::vector<SmallTokenizer> make_all() {
  std::vector<SmallTokenizer> all;
  all.push_back(make("gpt-2", byte_level("gpt-2"), true));
  all.push_back(make("llama-bpe", byte_level("llama-bpe"), true));
  all.push_back(make("qwen2", byte_level("qwen2"), false));  // brings text to form C
  all.push_back(make("llama", sentence_piece(), false));     // reads U+2581 as a space
  return all;
}

}  // namespace

const std::vector<SmallTokenizer>& small_tokenizers() {
  static const std::vector<SmallTokenizer> all = make_all();
  return all;
}

}  // namespace halogen::fuzz
