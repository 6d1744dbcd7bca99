// Writes small GGUF files for tests, also wrong ones: every part can be replaced by raw bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "plugins/gguf/value.h"

namespace halogen::gguf::test {

template <typename Number>
std::string bytes_of(Number number) {
  std::string text(sizeof number, '\0');
  std::memcpy(text.data(), &number, sizeof number);
  return text;
}

inline std::string string_of(std::string_view text) {
  return bytes_of(uint64_t{text.size()}) + std::string(text);
}

// A key with its type and value, as they lie in a file.
template <typename Number>
std::string number_key(std::string_view key, ValueType type, Number number) {
  return string_of(key) + bytes_of(static_cast<uint32_t>(type)) + bytes_of(number);
}

inline std::string u32_key(std::string_view key, uint32_t number) {
  return number_key(key, ValueType::u32, number);
}

inline std::string f32_key(std::string_view key, float number) {
  return number_key(key, ValueType::f32, number);
}

inline std::string text_key(std::string_view key, std::string_view text) {
  return string_of(key) + bytes_of(static_cast<uint32_t>(ValueType::string)) + string_of(text);
}

// `elements`: the encoded elements, one after the other.
inline std::string array_key(std::string_view key, ValueType type, uint64_t count,
                             std::string_view elements) {
  return string_of(key) + bytes_of(static_cast<uint32_t>(ValueType::array)) +
         bytes_of(static_cast<uint32_t>(type)) + bytes_of(count) + std::string(elements);
}

inline std::string texts_key(std::string_view key, const std::vector<std::string>& texts) {
  std::string elements;
  for (const std::string& text : texts) elements += string_of(text);
  return array_key(key, ValueType::string, texts.size(), elements);
}

inline std::string u32s_key(std::string_view key, const std::vector<uint32_t>& numbers) {
  std::string elements;
  for (const uint32_t number : numbers) elements += bytes_of(number);
  return array_key(key, ValueType::u32, numbers.size(), elements);
}

inline std::string tensor_entry(std::string_view name, const std::vector<uint64_t>& shape,
                                uint32_t type, uint64_t offset) {
  std::string entry = string_of(name) + bytes_of(static_cast<uint32_t>(shape.size()));
  for (const uint64_t dimension : shape) entry += bytes_of(dimension);
  return entry + bytes_of(type) + bytes_of(offset);
}

struct Image {
  uint32_t version = 3;
  std::vector<std::string> keys = {};
  std::vector<std::string> tensors = {};
  std::string data = {};
  uint64_t alignment = 32;

  std::string bytes() const {
    std::string image = "GGUF" + bytes_of(version) + bytes_of(uint64_t{tensors.size()}) +
                        bytes_of(uint64_t{keys.size()});
    for (const std::string& key : keys) image += key;
    for (const std::string& tensor : tensors) image += tensor;
    if (!tensors.empty()) image.append((alignment - image.size() % alignment) % alignment, '\0');
    return image + data;
  }
};

// A folder of its own in the build folder, gone with the object.
class Scratch {
 public:
  Scratch() {
    std::string pattern = HALOGEN_BUILD_DIR "/gguf-test-XXXXXX";
    if (::mkdtemp(pattern.data())) folder_ = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path(std::string_view name) const { return (folder_ / name).string(); }

  std::string write(std::string_view name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary).write(bytes.data(), std::ssize(bytes));
    return path(name);
  }

 private:
  std::filesystem::path folder_;
};

inline std::string read_bytes(const std::string& path, uint64_t offset, uint64_t size) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(size, '\0');
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<size_t>(file.gcount()));
  return bytes;
}

inline std::string read_whole(const std::string& path) {
  return read_bytes(path, 0, std::filesystem::file_size(path));
}

}  // namespace halogen::gguf::test
