// Reads the tensors of a GGUF file (little-endian, version 3), as far as the tests need them.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "halogen/types.h"

namespace halogen::cpu::testing {

struct GgufTensor {
  halogen_type type;
  uint64_t row_elements;
  uint64_t rows;
  const uint8_t* data;
};

class GgufTensors {
 public:
  explicit GgufTensors(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    at_ = 8;  // magic, version
    const auto n_tensors = read<uint64_t>();
    const auto n_keys = read<uint64_t>();
    for (uint64_t i = 0; i < n_keys; ++i) {
      string();
      skip_value(read<uint32_t>());
    }
    std::vector<std::pair<std::string, uint64_t>> offsets;
    for (uint64_t i = 0; i < n_tensors; ++i) {
      const std::string name = string();
      const auto dimensions = read<uint32_t>();
      GgufTensor tensor = {0, read<uint64_t>(), 1, nullptr};
      for (uint32_t d = 1; d < dimensions; ++d) tensor.rows *= read<uint64_t>();
      tensor.type = read<uint32_t>();
      offsets.emplace_back(name, read<uint64_t>());
      tensors_[name] = tensor;
    }
    const size_t start = (at_ + 31) / 32 * 32;
    for (const auto& [name, offset] : offsets)
      tensors_[name].data = reinterpret_cast<const uint8_t*>(bytes_.data()) + start + offset;
  }

  const GgufTensor& at(const std::string& name) const { return tensors_.at(name); }

 private:
  template <class T>
  T read() {
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  std::string string() {
    const auto size = read<uint64_t>();
    std::string text(bytes_.data() + at_, size);
    at_ += size;
    return text;
  }

  void skip_value(uint32_t type) {
    constexpr size_t kSizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    if (type == 8) {
      string();
    } else if (type == 9) {
      const auto element = read<uint32_t>();
      const auto n = read<uint64_t>();
      for (uint64_t i = 0; i < n; ++i) skip_value(element);
    } else {
      at_ += kSizes[type];
    }
  }

  std::vector<char> bytes_;
  size_t at_ = 0;
  std::map<std::string, GgufTensor> tensors_;
};

// Calls check(what, tensor, expected) for every tensor that golden.json knows dequantised, where
// `expected` has its "first8" and "sha256_f32". False where there is no golden.json.
template <class Check>
bool for_each_golden_tensor(Check check) {
  const std::filesystem::path folder = std::filesystem::path(HALOGEN_TEST_DATA) / "gguf";
  std::ifstream file(folder / "golden.json");
  if (!file) return false;
  const auto golden = nlohmann::json::parse(file);
  for (const auto& [name, entry] : golden["files"].items()) {
    if (!entry.contains("dequant") || !std::filesystem::exists(folder / name)) continue;
    const GgufTensors tensors((folder / name).string());
    for (const auto& [tensor_name, expected] : entry["dequant"].items())
      check(name + " " + tensor_name, tensors.at(tensor_name), expected);
  }
  return true;
}

}  // namespace halogen::cpu::testing
