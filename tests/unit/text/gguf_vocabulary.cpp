#include "tests/unit/text/gguf_vocabulary.h"

#include <fstream>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace halogen::text::testing {

namespace {

// Every number fits a double here; the keys that matter are small.
using Value = std::variant<double, std::string, std::vector<double>, std::vector<std::string>>;

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : file_(path, std::ios::binary) {}

  std::optional<std::map<std::string, Value>> metadata() {
    if (read<uint32_t>() != 0x46554747U) return {};  // "GGUF"
    read<uint32_t>();                                // version
    read<uint64_t>();                                // tensors
    const auto count = read<uint64_t>();
    std::map<std::string, Value> values;
    for (uint64_t i = 0; i < count && file_; ++i) {
      std::string key = read_string();
      const auto type = read<uint32_t>();
      values.emplace(std::move(key), read_value(type));
    }
    if (!file_) return {};
    return values;
  }

 private:
  static constexpr uint32_t kString = 8;
  static constexpr uint32_t kArray = 9;

  template <typename T>
  T read() {
    T value{};
    file_.read(reinterpret_cast<char*>(&value), sizeof(value));
    return value;
  }

  std::string read_string() {
    std::string text(read<uint64_t>(), '\0');
    file_.read(text.data(), static_cast<std::streamsize>(text.size()));
    return text;
  }

  double read_number(uint32_t type) {
    switch (type) {
      case 0:
        return read<uint8_t>();
      case 1:
        return read<int8_t>();
      case 2:
        return read<uint16_t>();
      case 3:
        return read<int16_t>();
      case 4:
        return read<uint32_t>();
      case 5:
        return read<int32_t>();
      case 6:
        return static_cast<double>(read<float>());
      case 7:
        return read<uint8_t>();
      case 10:
        return static_cast<double>(read<uint64_t>());
      case 11:
        return static_cast<double>(read<int64_t>());
      default:
        return read<double>();
    }
  }

  Value read_value(uint32_t type) {
    if (type == kString) return read_string();
    if (type != kArray) return read_number(type);
    const auto element = read<uint32_t>();
    const auto count = read<uint64_t>();
    if (element == kString) {
      std::vector<std::string> strings;
      for (uint64_t i = 0; i < count; ++i) strings.push_back(read_string());
      return strings;
    }
    std::vector<double> numbers;
    for (uint64_t i = 0; i < count; ++i) numbers.push_back(read_number(element));
    return numbers;
  }

  std::ifstream file_;
};

}  // namespace

std::optional<Vocabulary> read_gguf_vocabulary(const std::filesystem::path& path) {
  const auto metadata = Reader(path).metadata();
  if (!metadata) return {};

  const auto read = [&]<typename T>(const char* key, const T& absent) -> T {
    const auto found = metadata->find(std::string("tokenizer.ggml.") + key);
    return found == metadata->end() ? absent : std::get<T>(found->second);
  };
  const auto read_id = [&](const char* key) {
    return static_cast<TokenId>(read(key, double{kNoToken}));
  };
  const auto read_flag = [&](const char* key) -> std::optional<bool> {
    const double flag = read(key, -1.0);
    if (flag < 0) return {};
    return flag != 0;
  };

  Vocabulary vocabulary;
  vocabulary.model = read("model", std::string());
  vocabulary.pre = read("pre", std::string());
  vocabulary.tokens = read("tokens", std::vector<std::string>());
  vocabulary.merges = read("merges", std::vector<std::string>());
  for (const double score : read("scores", std::vector<double>())) {
    vocabulary.scores.push_back(static_cast<float>(score));
  }
  for (const double type : read("token_type", std::vector<double>())) {
    vocabulary.types.push_back(static_cast<int32_t>(type));
  }
  vocabulary.bos = read_id("bos_token_id");
  vocabulary.eos = read_id("eos_token_id");
  vocabulary.eot = read_id("eot_token_id");
  vocabulary.unk = read_id("unknown_token_id");
  vocabulary.pad = read_id("padding_token_id");
  vocabulary.sep = read_id("seperator_token_id");
  vocabulary.cls = read_id("cls_token_id");
  vocabulary.add_bos = read_flag("add_bos_token");
  vocabulary.add_eos = read_flag("add_eos_token");
  vocabulary.add_sep = read_flag("add_sep_token");
  vocabulary.remove_extra_spaces = read_flag("remove_extra_whitespaces");
  vocabulary.lowercase = read_flag("normalizer.lowercase");
  for (const double byte : read("precompiled_charsmap", std::vector<double>())) {
    vocabulary.character_map.push_back(static_cast<char>(static_cast<int>(byte)));
  }
  if (const auto prefix = read_flag("add_space_prefix")) {
    vocabulary.space_prefix = *prefix ? SpacePrefix::kEveryFragment : SpacePrefix::kNever;
  }
  return vocabulary;
}

}  // namespace halogen::text::testing
