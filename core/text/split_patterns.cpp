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

#define O200K_WORDS \
  LETTER_PREFIX UPPER "*" LOWER "+" CONTRACTIONS "?|" LETTER_PREFIX UPPER "+" LOWER "*" CONTRACTIONS

constexpr const char* kO200k[] = {O200K_WORDS R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*)" SPACES};

// Digits in threes counted from the right. The published \d{1,3}(?=(?:\d{3})*\b) looks at the rest
// of the number from each of its threes. Looking from its first digit only and taking threes right
// behind a match (\G) finds the same in linear time.
constexpr const char* kTinyAya[] = {R"((?<!\d)\d{1,3}(?=(?:\d{3})*\b)|\G(?<=\d)\d{3})", O200K_WORDS
                                    R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*)" SPACES};

// The same of every number: the published (?=(\d{3})+(?!\d)) is quadratic too.
#define THREES_FROM_THE_RIGHT R"((?<!\d)\d{1,2}(?=(?:\d{3})+(?!\d))|\d{3})"
constexpr const char* kSuperBpe[] = {R"(\p{N}+)", THREES_FROM_THE_RIGHT};

// Han characters are words of their own, and no letters of others.
#define NOT_HAN(characters) R"((?:(?!\p{sc:Han}))" characters ")"
constexpr const char* kKimiK2[] = {R"(\p{sc:Han}+|)" LETTER_PREFIX NOT_HAN(UPPER) "*" NOT_HAN(
    LOWER) "+" CONTRACTIONS
           "?|" LETTER_PREFIX NOT_HAN(UPPER) "+" NOT_HAN(
               LOWER) "*" CONTRACTIONS R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)" SPACES};

constexpr const char* kYoutu[] = {
    R"([\x{AC00}-\x{D7A3}\x{3131}-\x{318E}]+)"
    R"(|[\x{FF01}\x{2026}\x{201C}\x{201D}\x{2018}\x{2019}\x{2014}\x{FF1A}\x{FF1B}\x{FF0C})"
    R"(\x{3001}-\x{303F}\x{FE30}-\x{FE4F}]+|[\x{3105}-\x{312F}]+)"
    R"(|[\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)",
    O200K_WORDS R"(?|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*)" SPACES};

constexpr const char* kTekken[] = {LETTER_PREFIX UPPER
                                   "*" LOWER "+|" LETTER_PREFIX UPPER "+" LOWER
                                   R"(*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*)" SPACES};

constexpr const char* kUfakzeka[] = {LETTER_PREFIX
                                     R"(\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)" SPACES};

constexpr const char* kLaguna[] = {R"([^\n]+|\n+)",
                                   CONTRACTIONS "|" LETTER_PREFIX
                                                R"(\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)" SPACES};

constexpr const char* kMiniCpm5[] = {R"(\p{N}{1,3})", CONTRACTIONS
                                     "|" LETTER_PREFIX
                                     R"(\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*)" SPACES};

// Runs of spaces are cut to powers of two. The look behind spares a search for line feeds from
// within a run that has none: had it one, the run's start would have matched.
constexpr const char* kJais2[] = {
    CONTRACTIONS
    "|" LETTER_PREFIX R"(\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|(?<![^\S\r\n])\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S))"
    R"(|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s)"};

constexpr const char* kExaoneMoe[] = {
    CONTRACTIONS "|" LETTER_PREFIX R"((?:\p{L}\p{M}*+(?: \p{L}\p{M}*+)*+)++|\p{N})"
                 R"(| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)"};

constexpr const char* kChameleon[] = {R"(<sentinel:[0-9]+>)",    R"(IMGIMG[A-I]{1,4}Z)",
                                      R"([\t\n]|    |  )",       R"(\p{N})",
                                      R"([\p{P}!-/:-@\[-`{-~])", GPT2_WORDS};

constexpr const char* kSeedCoder[] = {CONTRACTIONS "|" LETTER_PREFIX
                                                   R"(\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+)" SPACES};

constexpr const char* kBailing[] = {
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*)"
    R"(|\s*[\r\n]|\s+(?!\S)|\s+)"};

// Ideographic, Devanagari and Arabic stops and commas end a word like their Latin kin.
constexpr const char* kBloom[] = {
    R"( ?[^(\s|.,!?\x{2026}\x{3002}\x{FF0C}\x{3001}\x{964}\x{6D4}\x{60C})]+)"};
constexpr const char* kViking[] = {
    R"( ?[^(\s|.,!?\x{2026}\x{3002}\x{FF0C}\x{3001}\x{964}\x{6D4}\x{60C})]+)", R"(\p{N})"};

// The published \s+$ is tried anew from every space of a long run; asking for the run's start first
// finds the same matches in linear time.
constexpr const char* kTrailingSpace = R"((?<!\s)\s++$)";

#define DEEPSEEK_CJK R"([\x{4E00}-\x{9FA5}\x{800}-\x{4E00}\x{AC00}-\x{D7FF}]+)"

// The published list of cased letters; \p{L&} has others besides, mathematical ones for instance.
constexpr const char* kDeepseekLlm[] = {
    R"([\r\n])",
    R"(\s?[A-Za-z)"
    R"(\x{B5}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1BA}\x{1BC}-\x{1BF}\x{1C4}-\x{293})"
    R"(\x{295}-\x{2AF}\x{370}-\x{373}\x{376}\x{377}\x{37B}-\x{37D}\x{37F}\x{386})"
    R"(\x{388}-\x{38A}\x{38C}\x{38E}-\x{3A1}\x{3A3}-\x{3F5}\x{3F7}-\x{481}\x{48A}-\x{52F})"
    R"(\x{531}-\x{556}\x{10A0}-\x{10C5}\x{13A0}-\x{13F5}\x{13F8}-\x{13FD}\x{1C90}-\x{1CBA})"
    R"(\x{1CBD}-\x{1CBF}\x{1D00}-\x{1D2B}\x{1D6B}-\x{1D77}\x{1D79}-\x{1D9A})"
    R"(\x{1E00}-\x{1F15}\x{1F18}-\x{1F1D}\x{1F20}-\x{1F45}\x{1F48}-\x{1F4D})"
    R"(\x{1F50}-\x{1F57}\x{1F59}\x{1F5B}\x{1F5D}\x{1F5F}-\x{1F7D}\x{1F80}-\x{1FB4})"
    R"(\x{1FB6}-\x{1FBC}\x{1FBE}\x{1FC2}-\x{1FC4}\x{1FC6}-\x{1FCC}\x{1FD0}-\x{1FD3})"
    R"(\x{1FD6}-\x{1FDB}\x{1FE0}-\x{1FEC}\x{1FF2}-\x{1FF4}\x{1FF6}-\x{1FFC}\x{2102}\x{2107})"
    R"(\x{210A}-\x{2113}\x{2115}\x{2119}-\x{211D}\x{2124}\x{2126}\x{2128}\x{212A}-\x{212D})"
    R"(\x{212F}-\x{2134}\x{2139}\x{213C}-\x{213F}\x{2145}-\x{2149}\x{214E}\x{2183}\x{2184})"
    R"(\x{2C00}-\x{2C7B}\x{2C7E}-\x{2CE4}\x{2CEB}-\x{2CEE}\x{2CF2}\x{2CF3}\x{A640}-\x{A66D})"
    R"(\x{A680}-\x{A69B}\x{A722}-\x{A76F}\x{A771}-\x{A787}\x{A78B}-\x{A78E})"
    R"(\x{AB70}-\x{ABBF}\x{FB00}-\x{FB06}\x{FB13}-\x{FB17}\x{FF21}-\x{FF3A})"
    R"(\x{FF41}-\x{FF5A}\x{10400}-\x{1044F}\x{104B0}-\x{104D3}\x{104D8}-\x{104FB})"
    R"(\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2}\x{118A0}-\x{118DF}\x{1E900}-\x{1E943})"
    R"(]+)",
    R"(\s?[!-/:-~\x{FF01}-\x{FF0F}\x{FF1A}-\x{FF5E}\x{2018}-\x{201F}\x{3000}-\x{3002}]+)",
    kTrailingSpace,
    DEEPSEEK_CJK,
    R"(\p{N}+)"};

constexpr const char* kDeepseekCoder[] = {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", DEEPSEEK_CJK,
                                          R"(\p{N})"};

#define DEEPSEEK3_WORDS                                                                     \
  R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)" \
  R"(| ?[\p{P}\p{S}]+)"

constexpr const char* kDeepseek3[] = {R"(\p{N}{1,3})",
                                      R"([\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)",
                                      DEEPSEEK3_WORDS R"([\r\n]*)" SPACES};

constexpr const char* kSpark25[] = {R"(\p{N}{1,3})",
                                    R"([\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)",
                                    DEEPSEEK3_WORDS R"(|[\r\n]|\s+(?!\S)|\s+)", R"(\p{N})"};

constexpr const char* kAfmoe[] = {
    R"(\d+)", THREES_FROM_THE_RIGHT,
    R"([\x{4E00}-\x{9FFF}\x{3400}-\x{4DBF}\x{F900}-\x{FAFF}\x{3040}-\x{309F}\x{30A0}-\x{30FF})"
    R"(\x{FF65}-\x{FF9F}\x{2F00}-\x{2FDF}\x{E40}-\x{E7F}\x{E80}-\x{EFF}\x{1780}-\x{17FF})"
    R"(\x{1000}-\x{109F}\x{AA60}-\x{AA7F}\x{A9E0}-\x{A9FF}\x{AC00}-\x{D7AF}\x{1100}-\x{11FF}]+)",
    DEEPSEEK3_WORDS R"([\r\n]*)" SPACES};

#undef CONTRACTIONS
#undef GPT2_WORDS
#undef SPACES
#undef UPPER
#undef LOWER
#undef LETTER_PREFIX
#undef DEEPSEEK_CJK
#undef DEEPSEEK3_WORDS
#undef O200K_WORDS
#undef THREES_FROM_THE_RIGHT
#undef NOT_HAN

struct Named {
  std::string_view name;
  PreTokenizer pre_tokenizer;
};

// Sorted by name. Whether the text is normalised is known from the makers' tokenizer.json; a GGUF
// file does not say.
constexpr auto kPreTokenizers = std::to_array<Named>({
    {"a.x-4.0", {.patterns = kGpt2}},
    {"afmoe", {.patterns = kAfmoe}},
    {"bailingmoe", {.patterns = kBailing}},
    {"bailingmoe2", {.patterns = kBailing}},
    {"bloom", {.patterns = kBloom}},
    {"chameleon", {.patterns = kChameleon, .add_bos = true}},
    {"chatglm-bpe", {.patterns = kLlama3}},
    {"codeshell", {.patterns = kSingleDigits}},
    {"cohere2moe", {.patterns = kTinyAya, .normalize_nfc = true}},
    {"command-r", {.patterns = kSingleDigits, .normalize_nfc = true}},
    {"dbrx", {.patterns = kLlama3}},
    {"deepseek-coder", {.patterns = kDeepseekCoder}},
    {"deepseek-llm", {.patterns = kDeepseekLlm}},
    {"deepseek-r1-qwen", {.patterns = kQwen2}},
    {"deepseek-v3", {.patterns = kDeepseek3}},
    {"default", {.patterns = kDefault}},
    {"exaone", {.patterns = kSingleDigits}},
    {"exaone-moe", {.patterns = kExaoneMoe, .normalize_nfc = true}},
    {"exaone4", {.patterns = kGpt2}},
    {"f2llmv2", {.patterns = kQwen2, .normalize_nfc = true}},
    {"falcon", {.patterns = kFalcon}},
    {"falcon-h1", {.patterns = kLlama3, .ignore_merges = true, .add_bos = true}},
    {"falcon3", {.patterns = kLlama3, .ignore_merges = true, .add_bos = true}},
    {"gemma4", {.add_bos = true, .characters = true}},
    {"gigachat", {.patterns = kGpt2}},
    {"glm4", {.patterns = kLlama3}},
    {"gpt-2", {.patterns = kGpt2}},
    {"gpt-4o", {.patterns = kO200k}},
    {"gpt3-finnish", {.patterns = kBloom}},
    {"granite-docling", {.patterns = kGpt2}},
    {"granite-embed-multi-311m", {.add_bos = true, .characters = true}},
    {"granite-embed-multi-97m", {.patterns = kO200k, .ignore_merges = true}},
    {"grok-2", {.patterns = kQwen2}},
    {"hunyuan", {.patterns = kQwen2}},
    {"hunyuan-dense", {.patterns = kDeepseek3}},
    {"hy_v4", {.patterns = kDeepseek3}},
    {"jais", {.patterns = kGpt2}},
    {"jais-2", {.patterns = kJais2}},
    {"jina-de", {.patterns = kGpt2}},
    {"jina-es", {.patterns = kGpt2}},
    {"jina-v1-en", {.patterns = kGpt2, .add_sep = true}},
    {"jina-v2-code", {.patterns = kGpt2, .add_sep = true}},
    {"jina-v2-de", {.patterns = kGpt2}},
    {"jina-v2-es", {.patterns = kGpt2}},
    {"jina-v5-nano", {.patterns = kLlama3, .ignore_merges = true, .add_bos = true}},
    {"joyai-llm", {.patterns = kDeepseek3}},
    {"kanana2", {.patterns = kO200k}},
    {"kimi-k2", {.patterns = kKimiK2}},
    {"kormo", {.patterns = kQwen2}},
    {"laguna", {.patterns = kLaguna}},
    {"lfm2", {.patterns = kLlama3, .ignore_merges = true, .add_bos = true}},
    {"llada-moe", {.patterns = kBailing}},
    {"llama-bpe", {.patterns = kLlama3, .ignore_merges = true, .add_bos = true}},
    {"llama-v3", {.patterns = kLlama3, .ignore_merges = true, .add_bos = true}},
    {"llama3", {.patterns = kLlama3, .ignore_merges = true, .add_bos = true}},
    {"llama4", {.patterns = kO200k}},
    {"megrez", {.patterns = kQwen2}},
    {"mellum", {.patterns = kGpt2}},
    {"mellum2", {.patterns = kSingleDigits}},
    {"midm-2.0", {.patterns = kLlama3, .ignore_merges = true, .add_bos = true}},
    {"minerva-7b", {.patterns = kSingleDigits}},
    {"minicpm5", {.patterns = kMiniCpm5, .ignore_merges = true}},
    {"minimax-m2", {.patterns = kO200k}},
    {"modern-bert", {.patterns = kGpt2, .normalize_nfc = true}},
    {"mpt", {.patterns = kGpt2, .normalize_nfc = true}},
    {"o200k", {.patterns = kO200k}},
    {"olmo", {.patterns = kGpt2, .normalize_nfc = true}},
    {"phi-2", {.patterns = kGpt2}},
    {"pixtral", {.patterns = kLlama3, .ignore_merges = true, .add_bos = true}},
    {"poro-chat", {.patterns = kBloom}},
    {"qwen2", {.patterns = kQwen2, .normalize_nfc = true}},
    {"qwen35", {.patterns = kQwen35, .normalize_nfc = true}},
    {"refact", {.patterns = kSingleDigits}},
    {"roberta-bpe", {.patterns = kGpt2, .add_sep = true}},
    {"sarvam-moe", {.characters = true}},
    {"seed-coder", {.patterns = kSeedCoder}},
    {"smaug-bpe", {.patterns = kLlama3}},
    {"smollm", {.patterns = kSingleDigits}},
    {"solar-open", {.patterns = kQwen2}},
    {"spark2_5", {.patterns = kSpark25}},
    {"stablelm2", {.patterns = kQwen2}},
    {"starcoder", {.patterns = kSingleDigits}},
    {"superbpe", {.patterns = kSuperBpe}},
    {"talkie", {.patterns = kO200k}},
    {"tekken", {.patterns = kTekken, .ignore_merges = true, .add_bos = true}},
    {"tiny_aya", {.patterns = kTinyAya, .normalize_nfc = true}},
    {"trillion", {.patterns = kGpt2}},
    {"ufakzeka", {.patterns = kUfakzeka}},
    {"viking", {.patterns = kViking}},
    {"youtu", {.patterns = kYoutu, .ignore_merges = true}},
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
