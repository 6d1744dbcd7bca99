// What every fuzz target shares. A target is one function that takes any bytes and demands more of
// the code than that it survives: require() states a property, and an input that breaks one is kept
// by the fuzzer like one that crashes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

// Reads the bytes as the target's head comment says; returns 0.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace halogen::fuzz {

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Ends the process where a property does not hold; `detail` shows what was there instead.
inline void require(bool holds, std::string_view property, std::string_view detail = {}) {
  if (holds) return;
  const std::string message =
      "does not hold: " + std::string(property) + "\n" + std::string(detail) + "\n";
  std::fwrite(message.data(), 1, message.size(), stderr);
  std::abort();
}

// Splits `text` at the first `separator`: what is before it, and what follows (empty without one).
struct Halves {
  std::string_view first, second;
};
inline Halves split_once(std::string_view text, std::string_view separator) {
  const size_t at = text.find(separator);
  if (at == std::string_view::npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + separator.size())};
}

// Numbers that an input decides through its bytes: the same input always gets the same ones, and
// any change of it gives others (FNV-1a, then splitmix64).
class Choices {
 public:
  explicit Choices(std::string_view input) {
    for (const char byte : input) state_ = (state_ ^ static_cast<uint8_t>(byte)) * 0x100000001B3U;
  }
  // Below `limit`, which is at least 1.
  size_t below(size_t limit) {
    state_ += 0x9E3779B97F4A7C15U;
    uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
    return static_cast<size_t>((mixed ^ (mixed >> 31U)) % limit);
  }

 private:
  uint64_t state_ = 0xCBF29CE484222325U;
};

// One line for a person to read: not empty, and without control characters, which could forge or
// hide lines of a log.
inline bool is_one_clean_line(std::string_view message) {
  for (const char c : message) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return false;
  }
  return !message.empty();
}

}  // namespace halogen::fuzz
