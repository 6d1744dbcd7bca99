#include "core/text/vocabulary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "core/base/printable.h"
#include "core/text/split_patterns.h"
#include "core/text/utf8.h"

namespace halogen::text {

namespace {

// Control tokens that end a turn, a message or a document, by the texts that model makers gave
// them. Files often name only one of theirs.
constexpr auto kEndTexts = std::to_array<std::string_view>({
    "<|eot_id|>",       // Llama 3
    "<|eom_id|>",       // Llama 3, before a tool's answer
    "<|end_of_text|>",  // Llama 3, Granite
    "<|im_end|>",       // ChatML
    "<|endoftext|>",    // GPT-2, Qwen
    "<|end|>",          // Phi-3
    "<|return|>",       // Harmony
    "<|call|>",         // Harmony, before a tool's answer
    "<end_of_turn>",    // Gemma
    "<eos>",            // Gemma
    "</s>",             // SentencePiece
    "<EOT>",            // CodeLlama
    "[EOS]",
    "[EOT]",                  // Kimi
    "<end_of_utterance>",     // SmolDocling
    "<|END_OF_TURN_TOKEN|>",  // Command-R
    "<｜end▁of▁sentence｜>",  // DeepSeek
    "<|user|>",               // GLM-4: the next turn begins
    "<|observation|>",        // GLM-4: a tool's answer begins
    "<|fim_pad|>",
    "<|repo_name|>",
    "<|file_sep|>",  // Qwen's code completion
});

// Bytes of a SentencePiece token; real ones have a few dozen. All its parts are looked up, and all
// places of a text are tried with tokens up to the longest.
constexpr size_t kLongestPiece = 1024;

// A file's own text in a message: UTF-8 on one line, whatever the file has.
std::string shown(std::string_view text) {
  return printable(sanitized(text));
}

Error invalid(std::string message) {
  return fail(HALOGEN_E_INVALID, "vocabulary: " + std::move(message));
}

Status check_arrays(const Vocabulary& vocabulary) {
  const size_t size = vocabulary.tokens.size();
  if (size == 0) return invalid("it has no tokens; the model file lacks tokenizer.ggml.tokens");
  if (size > INT32_MAX) return invalid("it has more tokens than a 32-bit id can name");
  const auto check_length = [&](const char* name, size_t length) -> Status {
    if (length == size) return {};
    return invalid("it has " + std::to_string(size) + " tokens but " + std::to_string(length) +
                   " " + name + "; the model file is damaged");
  };
  if (!vocabulary.types.empty()) {
    if (Status s = check_length("token types", vocabulary.types.size()); !s) return s;
  }
  if (!vocabulary.strip_flags.empty()) {
    if (Status s = check_length("strip flags", vocabulary.strip_flags.size()); !s) return s;
  }
  if (vocabulary.model == "llama" || vocabulary.model == "t5") {
    if (Status s = check_length("scores", vocabulary.scores.size()); !s) return s;
    const auto strange = std::ranges::find_if_not(vocabulary.scores,
                                                  [](float score) { return std::isfinite(score); });
    if (strange != vocabulary.scores.end()) {
      return invalid("the score of token " + std::to_string(strange - vocabulary.scores.begin()) +
                     " is not a finite number");
    }
  }
  if (vocabulary.model == "llama" || vocabulary.model == "t5") {
    const auto longest = std::ranges::max_element(vocabulary.tokens, {}, &std::string::size);
    if (longest->size() > kLongestPiece) {
      return invalid("token " + std::to_string(longest - vocabulary.tokens.begin()) + " has " +
                     std::to_string(longest->size()) + " bytes; the limit is " +
                     std::to_string(kLongestPiece));
    }
  }
  // Two parts with a space between them; a part may itself be a space in odd vocabularies.
  const auto unpaired = std::ranges::find_if(vocabulary.merges, [](const std::string& merge) {
    const size_t space = merge.find(' ', 1);
    return space == std::string::npos || space + 1 == merge.size();
  });
  if (unpaired != vocabulary.merges.end()) {
    return invalid("merge " + std::to_string(unpaired - vocabulary.merges.begin()) + ", '" +
                   shown(*unpaired) +
                   "', is not two parts with a space between them; the model file is damaged");
  }
  return {};
}

Status check_id(const Vocabulary& vocabulary, const char* name, TokenId id) {
  if (id == kNoToken) return {};
  if (id >= 0 && static_cast<size_t>(id) < vocabulary.tokens.size()) return {};
  return invalid(std::string("the ") + name + " token is " + std::to_string(id) +
                 ", but ids end at " + std::to_string(vocabulary.tokens.size() - 1));
}

Status check_special_ids(const Vocabulary& vocabulary) {
  const std::pair<const char*, TokenId> named[] = {
      {"bos", vocabulary.bos}, {"eos", vocabulary.eos}, {"eot", vocabulary.eot},
      {"eom", vocabulary.eom}, {"unk", vocabulary.unk}, {"pad", vocabulary.pad},
      {"sep", vocabulary.sep}, {"cls", vocabulary.cls}};
  for (const auto& [name, id] : named) {
    if (Status s = check_id(vocabulary, name, id); !s) return s;
  }
  for (const TokenId id : vocabulary.end_of_generation) {
    if (Status s = check_id(vocabulary, "end-of-generation", id); !s) return s;
  }
  return {};
}

// The id that was given, or else the special token with one of the customary texts.
void find_if_absent(const Vocabulary& vocabulary, std::string_view text, TokenId& id) {
  for (size_t i = 0; i < vocabulary.tokens.size() && id == kNoToken; ++i) {
    const auto type = static_cast<TokenType>(vocabulary.types[i]);
    const bool special = type == TokenType::kControl || type == TokenType::kUnknown;
    if (special && vocabulary.tokens[i] == text) id = static_cast<TokenId>(i);
  }
}

void default_ids(Vocabulary& vocabulary) {
  if (vocabulary.model == "bert") {
    find_if_absent(vocabulary, "[UNK]", vocabulary.unk);
    find_if_absent(vocabulary, "[CLS]", vocabulary.cls);
    find_if_absent(vocabulary, "[SEP]", vocabulary.sep);
    if (vocabulary.bos == kNoToken) vocabulary.bos = vocabulary.cls;
    if (vocabulary.eos == kNoToken) vocabulary.eos = vocabulary.sep;
  } else if (vocabulary.model == "t5") {
    find_if_absent(vocabulary, "<unk>", vocabulary.unk);
    find_if_absent(vocabulary, "</s>", vocabulary.eos);
  } else if (vocabulary.model == "llama" && vocabulary.tokens.size() >= 3) {
    // A file that names no special ids has SentencePiece's own: <unk>, <s>, </s>.
    const bool none_named =
        vocabulary.bos == kNoToken && vocabulary.eos == kNoToken && vocabulary.unk == kNoToken;
    if (!none_named) return;
    vocabulary.unk = 0;
    vocabulary.bos = 1;
    vocabulary.eos = 2;
  }
}

void default_flags(Vocabulary& vocabulary, const PreTokenizer& pre) {
  const TokenizerKind kind = tokenizer_kind(vocabulary);
  const bool sentence_piece = kind == TokenizerKind::kSentencePiece;
  const bool unigram = kind == TokenizerKind::kUnigram;
  const bool word_piece = kind == TokenizerKind::kWordPiece;
  const bool pairs = kind == TokenizerKind::kBytePairs || kind == TokenizerKind::kCharacterPairs;
  const auto set_if_absent = [](auto& member, auto value) {
    if (!member) member = value;
  };
  set_if_absent(vocabulary.add_bos, sentence_piece || word_piece || (pairs && pre.add_bos));
  set_if_absent(vocabulary.add_eos, unigram || word_piece);
  set_if_absent(vocabulary.add_sep, pairs && pre.add_sep);
  set_if_absent(vocabulary.space_prefix, pairs ? SpacePrefix::kNever : SpacePrefix::kEveryFragment);
  set_if_absent(vocabulary.ignore_merges, pairs && pre.ignore_merges);
  set_if_absent(vocabulary.normalize_nfc, pairs && pre.normalize_nfc);
  set_if_absent(vocabulary.remove_extra_spaces, unigram);
  set_if_absent(vocabulary.lowercase, word_piece);
  if (vocabulary.bos == kNoToken) vocabulary.add_bos = false;
  if (vocabulary.eos == kNoToken) vocabulary.add_eos = false;
  if (vocabulary.sep == kNoToken) vocabulary.add_sep = false;
}

// White space that belongs to a token, which GGUF files do not tell: XLM-RoBERTa's mask swallows
// the space before it, and Phi-3's turns swallow the line feed behind their names.
void default_strip_flags(Vocabulary& vocabulary) {
  if (!vocabulary.strip_flags.empty()) return;
  const auto id_of = [&](std::string_view text) {
    TokenId id = kNoToken;
    find_if_absent(vocabulary, text, id);
    return id;
  };
  const auto strip = [&](std::string_view text, uint8_t flags) {
    const TokenId id = id_of(text);
    if (id == kNoToken) return;
    vocabulary.strip_flags.resize(vocabulary.tokens.size());
    vocabulary.strip_flags[static_cast<size_t>(id)] = flags;
  };
  if (vocabulary.model == "t5") strip("<mask>", kStripLeft);
  if (vocabulary.model == "llama" && id_of("<|placeholder1|>") != kNoToken) {
    for (const char* text : {"</s>", "<|assistant|>", "<|placeholder1|>", "<|placeholder2|>",
                             "<|placeholder3|>", "<|placeholder4|>", "<|system|>", "<|end|>",
                             "<|placeholder5|>", "<|placeholder6|>", "<|user|>"}) {
      strip(text, kStripRight);
    }
  }
}

void complete_end_of_generation(Vocabulary& vocabulary) {
  std::vector<TokenId>& ends = vocabulary.end_of_generation;
  for (const TokenId id : {vocabulary.eos, vocabulary.eot, vocabulary.eom}) {
    if (id != kNoToken) ends.push_back(id);
  }
  std::unordered_map<std::string_view, TokenId> special;
  for (size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    const auto type = static_cast<TokenType>(vocabulary.types[i]);
    if (type == TokenType::kControl || type == TokenType::kUserDefined) {
      special.emplace(vocabulary.tokens[i], static_cast<TokenId>(i));
    }
  }
  // Harmony ends a message with <|end|> and goes on with the next one; only the other two stop.
  const bool harmony = special.contains("<|return|>") && special.contains("<|call|>");
  for (const std::string_view text : kEndTexts) {
    if (harmony && text == "<|end|>") continue;
    // In other families <|user|> opens a turn and never ends one.
    const bool glm_only = text == "<|user|>" || text == "<|observation|>";
    if (glm_only && !special.contains("<|observation|>")) continue;
    if (const auto found = special.find(text); found != special.end()) {
      ends.push_back(found->second);
    }
  }
  std::ranges::sort(ends);
  const auto repeated = std::ranges::unique(ends);
  ends.erase(repeated.begin(), repeated.end());
}

}  // namespace

TokenizerKind tokenizer_kind(const Vocabulary& vocabulary) {
  if (vocabulary.model == "llama") return TokenizerKind::kSentencePiece;
  if (vocabulary.model == "t5") return TokenizerKind::kUnigram;
  if (vocabulary.model == "bert") return TokenizerKind::kWordPiece;
  if (vocabulary.model == "gemma4") return TokenizerKind::kCharacterPairs;
  const PreTokenizer* pre = find_pre_tokenizer(vocabulary.pre);
  const bool characters = vocabulary.split_patterns.empty() && pre != nullptr && pre->characters;
  return characters ? TokenizerKind::kCharacterPairs : TokenizerKind::kBytePairs;
}

Status complete_vocabulary(Vocabulary& vocabulary) {
  constexpr std::string_view kModels[] = {"gpt2", "llama", "t5", "bert", "gemma4"};
  if (std::ranges::find(kModels, vocabulary.model) == std::end(kModels)) {
    return fail(HALOGEN_E_UNSUPPORTED,
                "vocabulary: tokenizers of kind '" + shown(vocabulary.model) +
                    "' are not supported; known are 'gpt2' (byte-level BPE), 'gemma4' (BPE of "
                    "characters), 'llama' (SentencePiece BPE), 't5' (SentencePiece unigram) and "
                    "'bert' (WordPiece)");
  }
  const bool named = vocabulary.model == "gpt2" && vocabulary.split_patterns.empty();
  const PreTokenizer* pre = find_pre_tokenizer(vocabulary.model == "gemma4" ? "gemma4"
                                               : named                      ? vocabulary.pre
                                                                            : "default");
  if (pre == nullptr) {
    return fail(HALOGEN_E_UNSUPPORTED, "vocabulary: the pre-tokenizer '" + shown(vocabulary.pre) +
                                           "' is not known; known are " + pre_tokenizer_names());
  }
  if (Status s = check_arrays(vocabulary); !s) return s;
  if (Status s = check_special_ids(vocabulary); !s) return s;

  if (vocabulary.types.empty()) {
    vocabulary.types.assign(vocabulary.tokens.size(), static_cast<int32_t>(TokenType::kNormal));
  }
  default_ids(vocabulary);
  default_flags(vocabulary, *pre);
  default_strip_flags(vocabulary);
  complete_end_of_generation(vocabulary);
  return {};
}

}  // namespace halogen::text
