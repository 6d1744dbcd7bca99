// A vocabulary as a model file describes it: plain data that a loader fills in and Tokenizer reads.
// The members follow GGUF's tokenizer.ggml.* keys; what a file leaves out stays empty, and
// complete_vocabulary() puts the customary value there, so that every loader behaves alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace halogen::text {

using TokenId = int32_t;

inline constexpr TokenId kNoToken = -1;

// The numbers are those of GGUF's tokenizer.ggml.token_type.
enum class TokenType : int32_t {
  kUndefined = 0,
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,      // structure, not text: <|im_start|>
  kUserDefined = 4,  // text that is always one token: <think>
  kUnused = 5,
  kByte = 6,  // SentencePiece's <0x0A>: one raw byte
};

// Where a SentencePiece vocabulary puts a space that the text does not have.
enum class SpacePrefix {
  kNever,
  kEveryFragment,  // at the start of the text and after every special token
  kTextStart,      // at the start of the text only, unless the text begins with a space
};

// White space beside a special token that belongs to the token (phi-3 swallows the line feed after
// <|end|>); flags, one byte a token.
inline constexpr uint8_t kStripLeft = 1;
inline constexpr uint8_t kStripRight = 2;

// How text becomes tokens.
enum class TokenizerKind {
  kBytePairs,       // "gpt2": byte-level BPE
  kCharacterPairs,  // "gemma4", and "gpt2" with some pre-tokenizers: BPE of characters, U+2581 for
                    // spaces
  kSentencePiece,   // "llama": SentencePiece BPE, with scores instead of merges
  kUnigram,         // "t5": SentencePiece unigram
  kWordPiece,       // "bert"
};

struct Vocabulary {
  std::string model;  // "gpt2", "llama", "t5", "bert", "gemma4": see TokenizerKind
  std::string pre;    // name of the pre-tokenizer (tokenizer.ggml.pre); empty means "default"

  std::vector<std::string> tokens;   // the text of each id, in the model's own alphabet
  std::vector<float> scores;         // per token; "llama" and "t5" only
  std::vector<int32_t> types;        // TokenType per token; empty: all are normal
  std::vector<std::string> merges;   // "left right", best first; "gpt2" and "gemma4" only
  std::vector<uint8_t> strip_flags;  // kStripLeft, kStripRight per token; empty: none

  // Regular expressions that replace those of `pre`, for files that spell theirs out.
  std::vector<std::string> split_patterns;

  // SentencePiece's compiled normaliser (character_map.h); "t5" only.
  std::string character_map;

  TokenId bos = kNoToken;
  TokenId eos = kNoToken;
  TokenId eot = kNoToken;  // end of a turn
  TokenId eom = kNoToken;  // end of a message that expects a tool's answer
  TokenId unk = kNoToken;
  TokenId pad = kNoToken;
  TokenId sep = kNoToken;
  TokenId cls = kNoToken;

  // Ids that end a generation, sorted. A loader may put some here (generation_config.json's list);
  // completion adds eos, eot, eom and the control tokens known by their text.
  std::vector<TokenId> end_of_generation;

  std::optional<bool> add_bos;
  std::optional<bool> add_eos;
  std::optional<bool> add_sep;  // one more separator between two texts
  std::optional<SpacePrefix> space_prefix;
  std::optional<bool> ignore_merges;  // a word that is a token is that token, whatever the merges
  std::optional<bool> normalize_nfc;  // text is brought to Unicode's form C first
  std::optional<bool> remove_extra_spaces;  // at the text's ends, and all but one of a run; "t5"
  std::optional<bool> lowercase;            // and without accents; "bert"
};

// [any] The kind of a completed vocabulary.
TokenizerKind tokenizer_kind(const Vocabulary& vocabulary);

// [any] Checks that the arrays agree with each other and fills in what is absent: types, special
// ids, flags and end_of_generation. The model and pre-tokenizer must be known ones; else the error
// is HALOGEN_E_UNSUPPORTED and names them. Inconsistent arrays are HALOGEN_E_INVALID.
// After success every optional member has a value. Doing it twice changes nothing.
Status complete_vocabulary(Vocabulary& vocabulary);

}  // namespace halogen::text
