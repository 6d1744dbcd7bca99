// Text for messages and checks of text that comes from a file.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

namespace halogen::gguf {

// True where `text` is well-formed UTF-8 (Unicode 15, table 3-7: no overlong forms, no surrogates).
bool is_utf8(std::string_view text);

// 'text' for a message: in quotes, control characters and bytes that are not UTF-8 as \xNN, and cut
// after 80 bytes, because it may come from a hostile file and end up in a log.
std::string in_quotes(std::string_view text);

// Texts and integers, one after the other.
template <typename... Parts>
std::string concat(const Parts&... parts) {
  std::string text;
  auto append = [&text](const auto& part) {
    if constexpr (std::is_integral_v<std::decay_t<decltype(part)>>) {
      text += std::to_string(part);
    } else {
      text += part;
    }
  };
  (append(parts), ...);
  return text;
}

}  // namespace halogen::gguf
