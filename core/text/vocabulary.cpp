#include "core/text/vocabulary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "core/text/split_patterns.h"

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
  if (vocabulary.model == "llama") {
    if (Status s = check_length("scores", vocabulary.scores.size()); !s) return s;
    const auto not_a_number =
        std::ranges::find_if(vocabulary.scores, [](float score) { return std::isnan(score); });
    if (not_a_number != vocabulary.scores.end()) {
      return invalid("the score of token " +
                     std::to_string(not_a_number - vocabulary.scores.begin()) + " is not a number");
    }
  }
  // Two parts with a space between them; a part may itself be a space in odd vocabularies.
  const auto unpaired = std::ranges::find_if(vocabulary.merges, [](const std::string& merge) {
    const size_t space = merge.find(' ', 1);
    return space == std::string::npos || space + 1 == merge.size();
  });
  if (unpaired != vocabulary.merges.end()) {
    return invalid("merge " + std::to_string(unpaired - vocabulary.merges.begin()) + ", '" +
                   *unpaired +
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
  const std::pair<const char*, TokenId> named[] = {{"bos", vocabulary.bos}, {"eos", vocabulary.eos},
                                                   {"eot", vocabulary.eot}, {"eom", vocabulary.eom},
                                                   {"unk", vocabulary.unk}, {"pad", vocabulary.pad},
                                                   {"sep", vocabulary.sep}};
  for (const auto& [name, id] : named) {
    if (Status s = check_id(vocabulary, name, id); !s) return s;
  }
  for (const TokenId id : vocabulary.end_of_generation) {
    if (Status s = check_id(vocabulary, "end-of-generation", id); !s) return s;
  }
  return {};
}

// A SentencePiece file that names no special ids has SentencePiece's own: <unk>, <s>, </s>.
void default_ids(Vocabulary& vocabulary) {
  if (vocabulary.model != "llama" || vocabulary.tokens.size() < 3) return;
  const bool none_named =
      vocabulary.bos == kNoToken && vocabulary.eos == kNoToken && vocabulary.unk == kNoToken;
  if (!none_named) return;
  vocabulary.unk = 0;
  vocabulary.bos = 1;
  vocabulary.eos = 2;
}

void default_flags(Vocabulary& vocabulary, const PreTokenizer& pre) {
  const bool sentence_piece = vocabulary.model == "llama";
  const auto set_if_absent = [](auto& member, auto value) {
    if (!member) member = value;
  };
  set_if_absent(vocabulary.add_bos, sentence_piece || pre.add_bos);
  set_if_absent(vocabulary.add_eos, false);
  set_if_absent(vocabulary.space_prefix,
                sentence_piece ? SpacePrefix::kEveryFragment : SpacePrefix::kNever);
  set_if_absent(vocabulary.ignore_merges, !sentence_piece && pre.ignore_merges);
  set_if_absent(vocabulary.normalize_nfc, !sentence_piece && pre.normalize_nfc);
  if (vocabulary.bos == kNoToken) vocabulary.add_bos = false;
  if (vocabulary.eos == kNoToken) vocabulary.add_eos = false;
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

Status complete_vocabulary(Vocabulary& vocabulary) {
  if (vocabulary.model != "gpt2" && vocabulary.model != "llama") {
    return fail(HALOGEN_E_UNSUPPORTED,
                "vocabulary: tokenizers of kind '" + vocabulary.model +
                    "' are not supported; known are 'gpt2' (byte-level BPE) and 'llama' "
                    "(SentencePiece BPE)");
  }
  const bool own_patterns = !vocabulary.split_patterns.empty() || vocabulary.model == "llama";
  const PreTokenizer* pre = find_pre_tokenizer(own_patterns ? "default" : vocabulary.pre);
  if (pre == nullptr) {
    return fail(HALOGEN_E_UNSUPPORTED, "vocabulary: the pre-tokenizer '" + vocabulary.pre +
                                           "' is not known; known are " + pre_tokenizer_names());
  }
  if (Status s = check_arrays(vocabulary); !s) return s;
  if (Status s = check_special_ids(vocabulary); !s) return s;

  if (vocabulary.types.empty()) {
    vocabulary.types.assign(vocabulary.tokens.size(), static_cast<int32_t>(TokenType::kNormal));
  }
  default_ids(vocabulary);
  default_flags(vocabulary, *pre);
  complete_end_of_generation(vocabulary);
  return {};
}

}  // namespace halogen::text
