#include "tests/models/edited_gguf.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include <nlohmann/json.hpp>

#include "plugins/gguf/gguf_file.h"

namespace halogen::test {
namespace {

constexpr size_t kHeader = 24;     // magic, version, tensor count, key count
constexpr size_t kAlignment = 32;  // of the data and of each tensor, as GGUF has it by default
constexpr uint32_t kU32 = 4, kString = 8;  // metadata value types
constexpr uint32_t kF32 = 0, kBF16 = 30;   // tensor types

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool write_file(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  return static_cast<bool>(file.flush());
}

template <typename T>
std::string raw(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string text(const std::string& value) {
  return raw(uint64_t{value.size()}) + value;
}

std::string padded(std::string bytes) {
  bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment);
  return bytes;
}

// "model.layers.3.self_attn.q_proj.weight" -> "blk.3.attn_q.weight"
std::string gguf_name(std::string name) {
  static const std::pair<const char*, const char*> parts[] = {
      {"model.embed_tokens", "token_embd"},
      {"model.norm", "output_norm"},
      {"model.layers.", "blk."},
      {"self_attn.q_norm", "attn_q_norm"},
      {"self_attn.k_norm", "attn_k_norm"},
      {"self_attn.q_proj", "attn_q"},
      {"self_attn.k_proj", "attn_k"},
      {"self_attn.v_proj", "attn_v"},
      {"self_attn.o_proj", "attn_output"},
      {"mlp.gate_proj", "ffn_gate"},
      {"mlp.up_proj", "ffn_up"},
      {"mlp.down_proj", "ffn_down"},
      {"input_layernorm", "attn_norm"},
      {"post_attention_layernorm", "ffn_norm"}};
  for (const auto& [from, to] : parts) {
    const size_t at = name.find(from);
    if (at != std::string::npos) name.replace(at, std::strlen(from), to);
  }
  return name;
}

// BF16 is the upper half of F32.
std::string widened(const std::string& bf16) {
  std::string f32(bf16.size() * 2, '\0');
  for (size_t i = 0; i + 1 < bf16.size(); i += 2) std::memcpy(&f32[2 * i + 2], &bf16[i], 2);
  return f32;
}

}  // namespace

bool add_metadata_u32(const std::string& source, const std::string& key, uint32_t value,
                      const std::string& target) {
  std::string bytes = read_file(source);
  if (bytes.size() < kHeader) return false;
  std::string added = text(key) + raw(kU32) + raw(value);
  // A second key fills up to the alignment, so that the tensors' offsets stay right.
  const std::string filler_start = text("test.filler") + raw(kString);
  const size_t used = added.size() + filler_start.size() + sizeof(uint64_t);
  added += filler_start + text(std::string(kAlignment - used % kAlignment, '.'));
  uint64_t keys = 0;
  std::memcpy(&keys, &bytes[16], sizeof keys);
  keys += 2;
  std::memcpy(&bytes[16], &keys, sizeof keys);
  bytes.insert(kHeader, added);
  return write_file(target, bytes);
}

bool with_tensors_of(const std::string& source, const std::string& safetensors,
                     const std::string& target) {
  const std::string old = read_file(source);
  const std::string weights = read_file(safetensors);
  gguf::GgufFile parsed;
  gguf::Failure failure;
  if (!gguf::read_gguf_file(source, parsed, failure) || weights.size() < sizeof(uint64_t))
    return false;
  // The keys end where the first tensor's name, with its length before it, begins.
  const size_t keys_end = old.find(text(parsed.tensors.front().name));
  uint64_t header_size = 0;
  std::memcpy(&header_size, weights.data(), sizeof header_size);
  const auto header = nlohmann::json::parse(weights.substr(sizeof header_size, header_size));

  std::string table, data;
  uint64_t tensors = 0;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    const std::vector<uint64_t> shape = entry["shape"];
    const uint64_t begin = entry["data_offsets"][0], end = entry["data_offsets"][1];
    const std::string bf16 = weights.substr(sizeof header_size + header_size + begin, end - begin);
    table += text(gguf_name(name)) + raw(static_cast<uint32_t>(shape.size()));
    for (auto dim = shape.rbegin(); dim != shape.rend(); ++dim) table += raw(*dim);
    table += raw(shape.size() == 1 ? kF32 : kBF16) + raw(uint64_t{data.size()});
    data += padded(shape.size() == 1 ? widened(bf16) : bf16);
    tensors++;
  }
  std::string head = old.substr(0, keys_end);
  std::memcpy(&head[8], &tensors, sizeof tensors);
  return write_file(target, padded(head + table) + data);
}

}  // namespace halogen::test
