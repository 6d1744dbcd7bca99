#include "core/text/byte_level.h"

#include <array>

#include "core/text/utf8.h"

namespace halogen::text {

namespace {

constexpr int kAlphabetEnd = 256 + 68;

constexpr bool stands_for_itself(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

// From a character of the alphabet to its byte; -1 for characters outside it.
constexpr auto kByteOfCharacter = [] {
  std::array<int16_t, kAlphabetEnd> bytes{};
  bytes.fill(-1);
  int shifted = 256;
  for (int byte = 0; byte < 256; ++byte) {
    const int character = stands_for_itself(byte) ? byte : shifted++;
    bytes[static_cast<size_t>(character)] = static_cast<int16_t>(byte);
  }
  return bytes;
}();

}  // namespace

std::optional<std::string> byte_level_bytes(std::string_view token) {
  std::string bytes;
  bytes.reserve(token.size());
  while (!token.empty()) {
    const Utf8Character character = read_character(token);
    if (character.state != Utf8::kValid || character.code_point >= kAlphabetEnd) return {};
    const int16_t byte = kByteOfCharacter[character.code_point];
    if (byte < 0) return {};
    bytes.push_back(static_cast<char>(byte));
    token.remove_prefix(character.length);
  }
  return bytes;
}

}  // namespace halogen::text
