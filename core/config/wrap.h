// Filling text to a width, for --help and for comments in generated files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace halogen {

// [any] The words of `text` in lines of at most `width` columns (longer words stand alone).
// `indent` begins every line but the first; it counts towards the width, and the first line is
// taken to start in the same column. No line break at the end.
inline std::string wrap(std::string_view text, std::string_view indent, std::size_t width) {
  std::string filled;
  std::size_t column = indent.size();
  bool line_is_empty = true;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line_is_empty && column + 1 + word.size() > width) {
      filled += '\n';
      filled += indent;
      column = indent.size();
      line_is_empty = true;
    }
    if (!line_is_empty) {
      filled += ' ';
      column++;
    }
    filled += word;
    column += word.size();
    line_is_empty = false;
  }
  return filled;
}

}  // namespace halogen
