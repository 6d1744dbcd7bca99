#include "core/http/internal/head_lines.h"

#include <algorithm>

namespace halogen::http {

namespace {

constexpr std::string_view kCarriageReturn = "a carriage return is not followed by a line feed";

}  // namespace

std::string_view HeadLines::check(std::string_view piece) {
  while (!ended_ && !piece.empty()) {
    if (last_ == '\n' && begun_ && (piece[0] == ' ' || piece[0] == '\t')) {
      return "a header field is folded over several lines";
    }
    if (last_ == '\r' && piece[0] != '\n') return kCarriageReturn;
    const size_t end = std::min(piece.find('\n'), piece.size());
    const std::string_view line = piece.substr(0, end);
    if (!line.empty()) {
      if (line.find('\r') < line.size() - 1) return kCarriageReturn;
      blank_ = blank_ && line == "\r";
      last_ = line.back();
    }
    if (end == piece.size()) break;
    if (last_ != '\r') return "a line ends with a line feed alone";
    ended_ = begun_ && blank_;
    begun_ = begun_ || !blank_;
    blank_ = true;
    last_ = '\n';
    piece.remove_prefix(end + 1);
  }
  return {};
}

}  // namespace halogen::http
