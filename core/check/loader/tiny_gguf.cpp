#include "core/check/loader/tiny_gguf.h"

#include <cstring>

namespace halogen::check {
namespace {

constexpr uint64_t kAlignment = 32;

enum ValueType : uint32_t {
  kU8 = 0,
  kI32 = 5,
  kU32 = 4,
  kF32 = 6,
  kBool = 7,
  kText = 8,
  kArray = 9
};

template <typename Number>
std::string number(Number value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string text(const std::string& value) {
  return number(uint64_t{value.size()}) + value;
}

// The metadata of the file in the making.
class Keys {
 public:
  void add(const std::string& key, uint32_t value) { append(key, kU32, number(value)); }
  void add(const std::string& key, float value) { append(key, kF32, number(value)); }
  void add(const std::string& key, bool value) {
    append(key, kBool, number(static_cast<uint8_t>(value)));
  }
  void add(const std::string& key, const char* value) { append(key, kText, text(value)); }
  void add(const std::string& key, const std::vector<std::string>& values) {
    std::string elements;
    for (const std::string& value : values) elements += text(value);
    append(key, kArray, number(uint32_t{kText}) + number(uint64_t{values.size()}) + elements);
  }
  template <typename Number>
  void add(const std::string& key, ValueType type, const std::vector<Number>& values) {
    std::string elements;
    for (const Number value : values) elements += number(value);
    append(key, kArray, number(uint32_t{type}) + number(uint64_t{values.size()}) + elements);
  }
  uint64_t count() const { return count_; }
  const std::string& bytes() const { return bytes_; }

 private:
  void append(const std::string& key, ValueType type, const std::string& value) {
    bytes_ += text(key) + number(uint32_t{type}) + value;
    count_++;
  }
  std::string bytes_;
  uint64_t count_ = 0;
};

Keys tiny_keys() {
  Keys keys;
  keys.add("general.architecture", "llama");
  keys.add("general.name", "tiny");
  keys.add("llama.block_count", 2U);
  keys.add("llama.context_length", 64U);
  keys.add("llama.embedding_length", 32U);
  keys.add("llama.feed_forward_length", 64U);
  keys.add("llama.attention.head_count", 4U);
  keys.add("llama.attention.head_count_kv", kU32, std::vector<uint32_t>{4, 2});
  keys.add("llama.attention.layer_norm_rms_epsilon", 1e-5F);
  keys.add("llama.rope.freq_base", 10000.0F);
  keys.add("tokenizer.ggml.model", "llama");
  keys.add("tokenizer.ggml.tokens", {"<s>", "a", "", "\xC3\xA9"});
  keys.add("tokenizer.ggml.scores", kF32, std::vector<float>{0, -1, -2, -3});
  keys.add("tokenizer.ggml.token_type", kI32, std::vector<int32_t>{3, 1, 1, 1});
  keys.add("tokenizer.ggml.bos_token_id", 0U);
  keys.add("tokenizer.ggml.add_bos_token", true);
  keys.add("check.bytes", kU8, std::vector<uint8_t>{1, 2, 3});
  return keys;
}

std::vector<TinyTensor> tiny_tensors() {
  return {{"token_embd.weight", HALOGEN_F16, {4, 32}, 0, 0},
          {"blk.0.attn_q.weight", HALOGEN_Q8_0, {32, 32}, 0, 0},
          {"blk.0.ffn_up.weight", HALOGEN_Q4_0, {64, 32}, 0, 0},
          {"blk.1.attn_norm.weight", HALOGEN_F32, {32}, 0, 0},
          {"output_norm.weight", HALOGEN_F32, {32}, 0, 0}};
}

}  // namespace

TinyGguf tiny_gguf() {
  TinyGguf file;
  file.tensors = tiny_tensors();
  const Keys keys = tiny_keys();
  file.bytes = "GGUF" + number(uint32_t{3}) + number(uint64_t{file.tensors.size()}) +
               number(keys.count()) + keys.bytes();
  uint64_t data = 0;
  for (TinyTensor& tensor : file.tensors) {
    uint64_t rows = 1;
    for (size_t d = 0; d + 1 < tensor.dims.size(); d++)
      rows *= static_cast<uint64_t>(tensor.dims[d]);
    tensor.bytes = rows * halogen_row_bytes(tensor.type, static_cast<uint64_t>(tensor.dims.back()));
    tensor.offset = data;
    file.bytes += text(tensor.name) + number(static_cast<uint32_t>(tensor.dims.size()));
    for (size_t d = tensor.dims.size(); d-- > 0;)  // innermost first in the file
      file.bytes += number(static_cast<uint64_t>(tensor.dims[d]));
    file.bytes += number(tensor.type) + number(tensor.offset);
    data += (tensor.bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  file.bytes.resize((file.bytes.size() + kAlignment - 1) / kAlignment * kAlignment);
  for (TinyTensor& tensor : file.tensors) tensor.offset += file.bytes.size();
  for (uint64_t i = 0; i < data; i++) file.bytes += static_cast<char>(i * 37);
  // The data ends with the last tensor, not with its padding.
  file.bytes.resize(file.tensors.back().offset + file.tensors.back().bytes);
  return file;
}

}  // namespace halogen::check
