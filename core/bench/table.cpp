#include "core/bench/table.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

namespace halogen::bench {
namespace {

// Columns on the screen: bytes that do not continue a UTF-8 sequence.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string Table::lines(const char* before, const char* between, const char* after,
                         bool rule) const {
  std::vector<size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); i++) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string text;
  for (size_t r = 0; r < rows_.size(); r++) {
    text += before;
    for (size_t i = 0; i < rows_[r].size(); i++) {
      const std::string padding(widths[i] - width_of(rows_[r][i]), ' ');
      if (i > 0) text += between;
      text += i == 0 ? rows_[r][i] + padding : padding + rows_[r][i];
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += after;
    text += '\n';
    if (r > 0 || !rule) continue;
    text += before;
    for (size_t i = 0; i < widths.size(); i++) {
      if (i > 0) text += between;
      text += std::string(std::max<size_t>(widths[i], 2) - (i > 0 ? 1 : 0), '-');
      if (i > 0) text += ':';
    }
    text += std::string(after) + '\n';
  }
  return text;
}

std::string Table::text() const {
  return lines("", "  ", "", false);
}

std::string Table::markdown() const {
  return lines("| ", " | ", " |", true);
}

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string percent(double share) {
  return fixed(100 * share, 0) + " %";
}

std::string decimal_bytes(double bytes) {
  static const char* const units[] = {"B", "kB", "MB", "GB", "TB"};
  size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < std::size(units); unit++) bytes /= 1000;
  return fixed(bytes, unit == 0 ? 0 : bytes < 10 ? 2 : 1) + " " + units[unit];
}

}  // namespace halogen::bench
