#include "core/text/word_piece_encoder.h"

#include <algorithm>

#include <utf8proc.h>

#include "core/text/normalize.h"
#include "core/text/token_pieces.h"
#include "core/text/utf8.h"

namespace halogen::text {

namespace {

constexpr size_t kMostCharacters = 100;  // of a word, as BERT has it

std::vector<std::string_view> word_texts(const Vocabulary& vocabulary) {
  std::vector<std::string_view> texts(vocabulary.tokens.size());
  for (size_t id = 0; id < texts.size(); ++id) {
    const auto type = static_cast<TokenType>(vocabulary.types[id]);
    if (type != TokenType::kControl && type != TokenType::kUnknown) {
      texts[id] = vocabulary.tokens[id];
    }
  }
  return texts;
}

enum class Class { kWord, kSpace, kPunctuation, kDropped };

// All printable ASCII but letters and digits counts as punctuation.
Class class_of_ascii(uint32_t c) {
  if (c == ' ' || c == '\t' || c == '\n' || c == '\r') return Class::kSpace;
  if (c < 0x20 || c == 0x7F) return Class::kDropped;
  const bool letter = (c | 0x20U) >= 'a' && (c | 0x20U) <= 'z';
  return letter || (c >= '0' && c <= '9') ? Class::kWord : Class::kPunctuation;
}

Class class_of(uint32_t c) {
  if (c < 0x80) return class_of_ascii(c);
  if (c == 0xFFFD) return Class::kDropped;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return Class::kSpace;
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CO:
      return Class::kDropped;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return Class::kPunctuation;
    default:
      return Class::kWord;
  }
}

// CJK ideographs, which are words of their own. That 2B820 to 2B91F are missing is how the
// published tokenizers have it.
bool is_ideograph(uint32_t c) {
  if (c < 0x3400) return false;
  constexpr struct {
    uint32_t first, last;
  } kRanges[] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},   {0x20000, 0x2A6DF},
                 {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F}};
  return std::ranges::any_of(kRanges,
                             [c](auto range) { return c >= range.first && c <= range.last; });
}

// Where the run of ASCII, or of anything up to the next ASCII space, ends.
size_t run_end(std::string_view text) {
  const auto is_ascii = [](char byte) { return static_cast<uint8_t>(byte) < 0x80; };
  const auto other = std::ranges::find_if_not(text, is_ascii);
  const auto ascii = static_cast<size_t>(other - text.begin());
  if (ascii == text.size()) return ascii;
  // A letter belongs together with the accents behind it.
  const size_t space = text.substr(0, ascii).find_last_of(" \t\n\r");
  if (space != std::string_view::npos) return space + 1;
  return std::min(text.find_first_of(" \t\n\r"), text.size());
}

}  // namespace

std::unique_ptr<FragmentEncoder> WordPieceEncoder::create(const Vocabulary& vocabulary) {
  return std::unique_ptr<FragmentEncoder>(new WordPieceEncoder(vocabulary));
}

WordPieceEncoder::WordPieceEncoder(const Vocabulary& vocabulary)
    : tokens_(word_texts(vocabulary)),
      word_start_(tokens_.walk(kSentencePieceSpace)),
      unknown_(vocabulary.unk),
      lowercase_(vocabulary.lowercase.value_or(true)) {}

Status WordPieceEncoder::encode(std::string_view fragment, bool /*text_start*/,
                                std::vector<TokenId>& out) const {
  Word word;
  while (!fragment.empty()) {
    const std::string_view run = fragment.substr(0, run_end(fragment));
    if (std::ranges::all_of(run, [](char byte) { return static_cast<uint8_t>(byte) < 0x80; })) {
      read_ascii(run, word, out);
    } else {
      read_unicode(run, word, out);
    }
    fragment.remove_prefix(run.size());
  }
  end_word(word, out);
  return {};
}

void WordPieceEncoder::read_ascii(std::string_view text, Word& word,
                                  std::vector<TokenId>& out) const {
  for (const char character : text) {
    const bool upper = lowercase_ && character >= 'A' && character <= 'Z';
    read_character(static_cast<uint8_t>(upper ? character + ('a' - 'A') : character), word, out);
  }
}

// The text's canonical decomposition without accents, in small letters; or the text as it is, for
// vocabularies that know capitals.
void WordPieceEncoder::read_unicode(std::string_view text, Word& word,
                                    std::vector<TokenId>& out) const {
  std::vector<uint32_t> characters;
  while (!text.empty()) {
    const Utf8Character character = text::read_character(text);
    text.remove_prefix(character.length);
    if (character.state != Utf8::kValid) continue;
    const Class found = class_of(character.code_point);
    if (found != Class::kDropped) {
      characters.push_back(found == Class::kSpace ? ' ' : character.code_point);
    }
  }
  if (lowercase_) characters = decomposed(characters);
  for (const uint32_t c : characters) {
    if (!lowercase_) {
      read_character(c, word, out);
      continue;
    }
    const auto* property = utf8proc_get_property(static_cast<utf8proc_int32_t>(c));
    if (property->category == UTF8PROC_CATEGORY_MN) continue;
    const utf8proc_int32_t lower = utf8proc_tolower(static_cast<utf8proc_int32_t>(c));
    read_character(static_cast<uint32_t>(lower), word, out);
  }
}

void WordPieceEncoder::read_character(uint32_t character, Word& word,
                                      std::vector<TokenId>& out) const {
  const Class found = class_of(character);
  if (found == Class::kDropped) return;
  const bool alone = found == Class::kPunctuation || is_ideograph(character);
  if (alone || found == Class::kSpace) end_word(word, out);
  if (found == Class::kSpace) return;
  if (word.characters++ < kMostCharacters) append_character(character, word.text);
  if (alone) end_word(word, out);
}

void WordPieceEncoder::end_word(Word& word, std::vector<TokenId>& out) const {
  if (word.characters == 0) return;
  const size_t first = out.size();
  if (word.characters > kMostCharacters || !append_pieces(word.text, out)) {
    out.resize(first);
    if (unknown_ != kNoToken) out.push_back(unknown_);
  }
  word.text.clear();
  word.characters = 0;
}

bool WordPieceEncoder::append_pieces(std::string_view word, std::vector<TokenId>& out) const {
  Trie::Node start = word_start_;
  while (!word.empty()) {
    TokenId longest = kNoToken;
    size_t length = 0;
    Trie::Node node = start;
    for (size_t i = 0; node != Trie::kNone; ++i) {
      if (i > 0 && tokens_.id(node) != kNoToken) {
        longest = tokens_.id(node);
        length = i;
      }
      if (i == word.size()) break;
      node = tokens_.child(node, word[i]);
    }
    if (longest == kNoToken) return false;
    out.push_back(longest);
    word.remove_prefix(length);
    start = Trie::kRoot;
  }
  return true;
}

}  // namespace halogen::text
