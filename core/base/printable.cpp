#include "core/base/printable.h"

namespace halogen {
namespace {

constexpr size_t kLongestExcerpt = 64;

// Bytes that `shows` is false for are written as \xNN.
template <typename Shows>
std::string escaped(std::string_view text, Shows shows) {
  constexpr std::string_view hex = "0123456789abcdef";
  std::string shown;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (shows(byte)) {
      shown += c;
    } else {
      shown += "\\x";
      shown += hex[byte >> 4];
      shown += hex[byte & 15];
    }
  }
  return shown;
}

bool is_control(unsigned char byte) {
  return byte < 0x20 || byte == 0x7F;
}

}  // namespace

std::string printable(std::string_view text) {
  return escaped(text, [](unsigned char byte) { return !is_control(byte); });
}

std::string excerpt(std::string_view name) {
  std::string shown = escaped(name.substr(0, kLongestExcerpt),
                              [](unsigned char byte) { return byte < 0x80 && !is_control(byte); });
  if (name.size() > kLongestExcerpt) shown += "...";
  return shown;
}

}  // namespace halogen
