#include "tests/unit/text/tokenizer_json.h"

#include <fstream>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/text/token_pieces.h"

namespace halogen::text::testing {

namespace {

using Json = nlohmann::json;

constexpr const char* kGpt2Words =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

void set_token(Vocabulary& vocabulary, size_t id, std::string text, TokenType type) {
  if (id >= vocabulary.tokens.size()) {
    vocabulary.tokens.resize(id + 1);
    vocabulary.types.resize(id + 1, static_cast<int32_t>(TokenType::kUnused));
    vocabulary.strip_flags.resize(id + 1);
  }
  vocabulary.tokens[id] = std::move(text);
  vocabulary.types[id] = static_cast<int32_t>(type);
}

std::string base64_decoded(std::string_view text) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char digit : text.substr(0, text.find('='))) {
    bits = bits << 6U | static_cast<uint32_t>(kAlphabet.find(digit));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<char>(bits >> static_cast<uint32_t>(count)));
  }
  return bytes;
}

// Calls each(step) for the steps of a normalizer or pre-tokenizer, which may be a sequence or null.
template <typename Each>
void for_each_step(const Json& step, const Each& each) {
  if (step.is_null()) return;
  for (const char* list : {"normalizers", "pretokenizers"}) {
    if (!step.contains(list)) continue;
    for (const Json& inner : step.at(list)) for_each_step(inner, each);
    return;
  }
  each(step);
}

void read_bpe(const Json& model, Vocabulary& vocabulary) {
  const bool characters = model.value("byte_fallback", false);
  vocabulary.model = characters ? "gemma4" : "gpt2";
  vocabulary.ignore_merges = model.value("ignore_merges", false);
  for (const auto& [text, id] : model.at("vocab").items()) {
    const bool byte = characters && byte_of_token(text);
    set_token(vocabulary, id.get<size_t>(), text, byte ? TokenType::kByte : TokenType::kNormal);
  }
  for (const Json& merge : model.at("merges")) {
    vocabulary.merges.push_back(merge.is_string() ? merge.get<std::string>()
                                                  : merge.at(0).get<std::string>() + " " +
                                                        merge.at(1).get<std::string>());
  }
}

void read_unigram(const Json& model, Vocabulary& vocabulary) {
  vocabulary.model = "t5";
  for (const Json& entry : model.at("vocab")) {
    set_token(vocabulary, vocabulary.tokens.size(), entry.at(0).get<std::string>(),
              TokenType::kNormal);
    vocabulary.scores.push_back(entry.at(1).get<float>());
  }
  vocabulary.unk = model.at("unk_id").get<TokenId>();
}

void read_word_piece(const Json& model, Vocabulary& vocabulary) {
  vocabulary.model = "bert";
  for (const auto& [text, id] : model.at("vocab").items()) {
    std::string token = std::string(kSentencePieceSpace) + text;
    if (text.starts_with("##")) token = text.substr(2);
    set_token(vocabulary, id.get<size_t>(), token, TokenType::kNormal);
  }
}

void read_normalizer(const Json& step, Vocabulary& vocabulary) {
  const auto type = step.at("type").get<std::string>();
  if (type == "NFC") vocabulary.normalize_nfc = true;
  if (type == "Prepend") vocabulary.space_prefix = SpacePrefix::kEveryFragment;
  if (type == "BertNormalizer") vocabulary.lowercase = step.at("lowercase").get<bool>();
  if (type == "Precompiled") {
    vocabulary.character_map = base64_decoded(step.at("precompiled_charsmap").get<std::string>());
  }
}

void read_pre_tokenizer(const Json& step, Vocabulary& vocabulary) {
  const auto type = step.at("type").get<std::string>();
  if (type == "Split" && step.at("pattern").contains("Regex")) {
    vocabulary.split_patterns.push_back(step.at("pattern").at("Regex").get<std::string>());
  } else if (type == "Digits") {
    vocabulary.split_patterns.emplace_back(R"(\p{N})");
  } else if (type == "ByteLevel" && step.at("use_regex").get<bool>()) {
    vocabulary.split_patterns.emplace_back(kGpt2Words);
  } else if (type == "Metaspace") {
    vocabulary.space_prefix = step.at("prepend_scheme") == "first" ? SpacePrefix::kTextStart
                                                                   : SpacePrefix::kEveryFragment;
  }
}

void read_added_tokens(const Json& added, Vocabulary& vocabulary) {
  for (const Json& token : added) {
    const auto id = token.at("id").get<size_t>();
    const auto text = token.at("content").get<std::string>();
    const bool unknown = text == "<unk>" || text == "[UNK]";
    set_token(vocabulary, id, text,
              unknown                           ? TokenType::kUnknown
              : token.at("special").get<bool>() ? TokenType::kControl
                                                : TokenType::kUserDefined);
    const bool left = token.at("lstrip").get<bool>();
    const bool right = token.at("rstrip").get<bool>();
    vocabulary.strip_flags[id] =
        static_cast<uint8_t>((left ? kStripLeft : 0) | (right ? kStripRight : 0));
    if (unknown) vocabulary.unk = static_cast<TokenId>(id);
  }
}

// What a template puts before and after a text, and between two.
void read_template(const Json& processor, Vocabulary& vocabulary) {
  const auto id_of = [&](const Json& item) {
    const auto text = item.at("SpecialToken").at("id").get<std::string>();
    return processor.at("special_tokens").at(text).at("ids").at(0).get<TokenId>();
  };
  bool before = true;
  for (const Json& item : processor.at("single")) {
    if (item.contains("Sequence")) {
      before = false;
    } else if (before) {
      vocabulary.bos = id_of(item);
      vocabulary.add_bos = true;
    } else {
      vocabulary.eos = vocabulary.sep = id_of(item);
      vocabulary.add_eos = true;
    }
  }
  size_t specials = 0;
  for (const Json& item : processor.at("pair")) specials += item.contains("SpecialToken") ? 1 : 0;
  vocabulary.add_sep = specials == 4;  // <s> a </s></s> b </s>
}

}  // namespace

std::optional<Vocabulary> read_tokenizer_json(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) return {};
  const Json json = Json::parse(file);
  Vocabulary vocabulary;
  vocabulary.add_bos = vocabulary.add_eos = false;
  const Json& model = json.at("model");
  const auto type = model.at("type").get<std::string>();
  if (type == "BPE") read_bpe(model, vocabulary);
  if (type == "Unigram") read_unigram(model, vocabulary);
  if (type == "WordPiece") read_word_piece(model, vocabulary);
  for_each_step(json.at("normalizer"),
                [&](const Json& step) { read_normalizer(step, vocabulary); });
  for_each_step(json.at("pre_tokenizer"),
                [&](const Json& step) { read_pre_tokenizer(step, vocabulary); });
  read_added_tokens(json.at("added_tokens"), vocabulary);
  const Json& processor = json.at("post_processor");
  if (processor.is_object()) {
    const bool sequence = processor.contains("processors");
    for (const Json& step : sequence ? processor.at("processors") : Json::array({processor})) {
      if (step.at("type") == "TemplateProcessing") read_template(step, vocabulary);
    }
  }
  return vocabulary;
}

}  // namespace halogen::text::testing
