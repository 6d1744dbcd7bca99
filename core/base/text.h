// Small things that are done to text of the ASCII kind: names of headers, lines of files.
#pragma once

#include <string_view>

namespace halogen {

// [any] A to Z as a to z; anything else as it is, whatever the locale.
constexpr char lower_case(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

// [any] `text` without the blanks at its ends.
constexpr std::string_view trimmed(std::string_view text, std::string_view blanks = " \t") {
  const size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace halogen
