#include "core/text/split_patterns.h"

#include <array>
#include <iterator>

namespace halogen::text {

namespace {

// Pieces that several families share. \s and \S mean Unicode's White_Space (pre_tokenizer.cpp).
#define CONTRACTIONS R"((?i:'s|'t|'re|'ve|'m|'ll|'d))"
#define GPT2_WORDS R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"
#define SPACES R"(|\s*[\r\n]+|\s+(?!\S)|\s+)"
#define UPPER R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"
#define LOWER R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"
#define LETTER_PREFIX R"([^\r\n\p{L}\p{N}]?)"

constexpr const char* kDefault[] = {R"([\p{P}\$\+<=>\^~\|]+)", GPT2_WORDS, R"(\p{N}+)",
                                    R"([0-9][0-9][0-9])"};

constexpr const char* kGpt2[] = {GPT2_WORDS};

constexpr const char* kSingleDigits[] = {R"(\p{N})", GPT2_WORDS};

constexpr const char* kFalcon[] = {R"([\p{P}\$\+<=>\^~\|`]+)", GPT2_WORDS, R"([0-9][0-9][0-9])"};

constexpr const char* kLlama3[] = {
    CONTRACTIONS "|" LETTER_PREFIX R"(\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)" SPACES};

constexpr const char* kQwen2[] = {CONTRACTIONS "|" LETTER_PREFIX
                                               R"(\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)" SPACES};

constexpr const char* kQwen35[] = {
    CONTRACTIONS "|" LETTER_PREFIX R"([\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*)" SPACES};

constexpr const char* kO200k[] = {
    LETTER_PREFIX UPPER "*" LOWER "+" CONTRACTIONS "?|" LETTER_PREFIX UPPER "+" LOWER
                        "*" CONTRACTIONS R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*)" SPACES};

constexpr const char* kTekken[] = {LETTER_PREFIX UPPER
                                   "*" LOWER "+|" LETTER_PREFIX UPPER "+" LOWER
                                   R"(*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*)" SPACES};

constexpr const char* kSeedCoder[] = {CONTRACTIONS "|" LETTER_PREFIX
                                                   R"(\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+)" SPACES};

constexpr const char* kBailing[] = {
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*)"
    R"(|\s*[\r\n]|\s+(?!\S)|\s+)"};

constexpr const char* kBloom[] = {R"( ?[^(\s|.,!?…。，、।۔،)]+)"};
constexpr const char* kViking[] = {R"( ?[^(\s|.,!?…。，、।۔،)]+)", R"(\p{N})"};

// The published \s+$ is tried anew from every space of a long run; asking for the run's start first
// finds the same matches in linear time.
constexpr const char* kTrailingSpace = R"((?<!\s)\s++$)";

constexpr const char* kDeepseekLlm[] = {
    R"([\r\n])",
    R"(\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕ)"
    R"(ἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳ)"
    R"(Ꙁ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+)",
    R"(\s?[!-/:-~！-／：-～‘-‟　-。]+)",
    kTrailingSpace,
    R"([一-龥ࠀ-一가-퟿]+)",
    R"(\p{N}+)"};

constexpr const char* kDeepseekCoder[] = {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)",
                                          R"([一-龥ࠀ-一가-퟿]+)", R"(\p{N})"};

constexpr const char* kDeepseek3[] = {
    R"(\p{N}{1,3})", R"([一-龥぀-ゟ゠-ヿ]+)",
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
    R"(| ?[\p{P}\p{S}]+[\r\n]*)" SPACES};

#undef CONTRACTIONS
#undef GPT2_WORDS
#undef SPACES
#undef UPPER
#undef LOWER
#undef LETTER_PREFIX

struct Named {
  std::string_view name;
  PreTokenizer pre_tokenizer;
};

// Sorted by name. Whether the text is normalised is known from the makers' tokenizer.json; a GGUF
// file does not say.
constexpr auto kPreTokenizers = std::to_array<Named>({
    {"a.x-4.0", {.patterns = kGpt2}},
    {"bailingmoe", {.patterns = kBailing}},
    {"bailingmoe2", {.patterns = kBailing}},
    {"bloom", {.patterns = kBloom}},
    {"chatglm-bpe", {.patterns = kLlama3}},
    {"codeshell", {.patterns = kSingleDigits}},
    {"command-r", {.patterns = kSingleDigits, .normalize_nfc = true}},
    {"dbrx", {.patterns = kLlama3}},
    {"deepseek-coder", {.patterns = kDeepseekCoder}},
    {"deepseek-llm", {.patterns = kDeepseekLlm}},
    {"deepseek-r1-qwen", {.patterns = kQwen2}},
    {"deepseek-v3", {.patterns = kDeepseek3}},
    {"default", {.patterns = kDefault}},
    {"exaone", {.patterns = kSingleDigits}},
    {"exaone4", {.patterns = kGpt2}},
    {"falcon", {.patterns = kFalcon}},
    {"falcon-h1", {.patterns = kLlama3, .ignore_merges = true, .add_bos = true}},
    {"falcon3", {.patterns = kLlama3, .ignore_merges = true, .add_bos = true}},
    {"gigachat", {.patterns = kGpt2}},
    {"glm4", {.patterns = kLlama3}},
    {"gpt-2", {.patterns = kGpt2}},
    {"gpt-4o", {.patterns = kO200k}},
    {"gpt3-finnish", {.patterns = kBloom}},
    {"granite-docling", {.patterns = kGpt2}},
    {"grok-2", {.patterns = kQwen2}},
    {"hunyuan", {.patterns = kQwen2}},
    {"hunyuan-dense", {.patterns = kDeepseek3}},
    {"jais", {.patterns = kGpt2}},
    {"kanana2", {.patterns = kO200k}},
    {"lfm2", {.patterns = kLlama3, .ignore_merges = true, .add_bos = true}},
    {"llada-moe", {.patterns = kBailing}},
    {"llama-bpe", {.patterns = kLlama3, .ignore_merges = true, .add_bos = true}},
    {"llama-v3", {.patterns = kLlama3, .ignore_merges = true, .add_bos = true}},
    {"llama3", {.patterns = kLlama3, .ignore_merges = true, .add_bos = true}},
    {"llama4", {.patterns = kO200k}},
    {"megrez", {.patterns = kQwen2}},
    {"mellum", {.patterns = kGpt2}},
    {"minerva-7b", {.patterns = kSingleDigits}},
    {"minimax-m2", {.patterns = kO200k}},
    {"mpt", {.patterns = kGpt2, .normalize_nfc = true}},
    {"o200k", {.patterns = kO200k}},
    {"olmo", {.patterns = kGpt2, .normalize_nfc = true}},
    {"phi-2", {.patterns = kGpt2}},
    {"pixtral", {.patterns = kLlama3, .ignore_merges = true, .add_bos = true}},
    {"poro-chat", {.patterns = kBloom}},
    {"qwen2", {.patterns = kQwen2, .normalize_nfc = true}},
    {"qwen35", {.patterns = kQwen35, .normalize_nfc = true}},
    {"refact", {.patterns = kSingleDigits}},
    {"seed-coder", {.patterns = kSeedCoder}},
    {"smaug-bpe", {.patterns = kLlama3}},
    {"smollm", {.patterns = kSingleDigits}},
    {"solar-open", {.patterns = kQwen2}},
    {"stablelm2", {.patterns = kQwen2}},
    {"starcoder", {.patterns = kSingleDigits}},
    {"tekken", {.patterns = kTekken, .ignore_merges = true, .add_bos = true}},
    {"trillion", {.patterns = kGpt2}},
    {"viking", {.patterns = kViking}},
});

}  // namespace

const PreTokenizer* find_pre_tokenizer(std::string_view name) {
  if (name.empty()) name = "default";
  for (const Named& entry : kPreTokenizers) {
    if (entry.name == name) return &entry.pre_tokenizer;
  }
  return nullptr;
}

std::string pre_tokenizer_names() {
  std::string names;
  for (const Named& entry : kPreTokenizers) {
    if (!names.empty()) names += ", ";
    names += entry.name;
  }
  return names;
}

}  // namespace halogen::text
