#include "core/base/printable.h"

namespace halogen {

std::string printable(std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  std::string shown;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7F) {
      shown += c;
    } else {
      shown += "\\x";
      shown += hex[byte >> 4];
      shown += hex[byte & 15];
    }
  }
  return shown;
}

}  // namespace halogen
