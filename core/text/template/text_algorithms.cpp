// Replacing, stripping, splitting and padding.
#include "core/text/template/text_algorithms.h"

#include <algorithm>

#include "core/text/template/unicode.h"

namespace halogen::jinja {

namespace {

bool is_one_of(std::string_view characters, char32_t c) {
  for (std::size_t at = 0; at < characters.size(); at += code_point_size(characters, at)) {
    if (code_point(characters, at) == c) return true;
  }
  return false;
}

std::vector<std::string_view> split_at_space(Budget& budget, std::string_view text,
                                             std::int64_t limit) {
  std::vector<std::string_view> parts;
  text = strip_left(text);
  while (!text.empty()) {
    if (limit >= 0 && static_cast<std::int64_t>(parts.size()) == limit) {
      parts.push_back(text);
      break;
    }
    budget.allocate(sizeof(std::string_view));
    std::size_t end = 0;
    while (end < text.size() && !is_space(code_point(text, end))) end += code_point_size(text, end);
    parts.push_back(text.substr(0, end));
    text = strip_left(text.substr(end));
  }
  return parts;
}

// Every word is found from the left; those beyond the limit stay together, with the space before
// them.
std::vector<std::string_view> split_at_space_from_right(Budget& budget, std::string_view text,
                                                        std::int64_t limit) {
  std::vector<std::string_view> parts = split_at_space(budget, text, -1);
  if (limit < 0 || static_cast<std::int64_t>(parts.size()) <= limit) return parts;
  const std::size_t joined = parts.size() - static_cast<std::size_t>(limit);
  const std::string_view& last = parts[joined - 1];
  parts[0] = {text.data(), static_cast<std::size_t>(last.data() + last.size() - text.data())};
  parts.erase(parts.begin() + 1, parts.begin() + static_cast<std::ptrdiff_t>(joined));
  return parts;
}

}  // namespace

std::string replace_text(Budget& budget, std::string_view text, std::string_view old,
                         std::string_view with, std::int64_t count) {
  TextBuilder out(budget);
  std::size_t at = 0;
  if (old.empty()) {
    for (; count != 0; --count) {
      out.append(with);
      if (at >= text.size()) return out.take();
      const std::size_t size = code_point_size(text, at);
      out.append(text.substr(at, size));
      at += size;
    }
  }
  while (count-- != 0) {
    const std::size_t found = text.find(old, at);
    if (found == std::string_view::npos) break;
    out.append(text.substr(at, found - at)).append(with);
    budget.step();
    at = found + old.size();
  }
  return out.append(text.substr(at)).take();
}

std::string_view strip_text(std::string_view text, std::optional<std::string_view> characters,
                            Ends ends) {
  const bool left = ends != Ends::right;
  const bool right = ends != Ends::left;
  if (!characters) {
    if (left) text = strip_left(text);
    return right ? strip_right(text) : text;
  }
  while (left && !text.empty() && is_one_of(*characters, code_point(text, 0))) {
    text.remove_prefix(code_point_size(text, 0));
  }
  while (right && !text.empty()) {
    std::size_t start = text.size() - 1;
    while (start > 0 && (static_cast<unsigned char>(text[start]) & 0xC0) == 0x80) --start;
    if (start + code_point_size(text, start) != text.size()) start = text.size() - 1;
    if (!is_one_of(*characters, code_point(text, start))) break;
    text = text.substr(0, start);
  }
  return text;
}

std::vector<std::string_view> split_text(Budget& budget, std::string_view text,
                                         std::optional<std::string_view> separator,
                                         std::int64_t limit) {
  if (!separator) return split_at_space(budget, text, limit);
  if (separator->empty()) raise("cannot split at an empty separator");
  std::vector<std::string_view> parts;
  while (limit-- != 0) {
    const std::size_t found = text.find(*separator);
    if (found == std::string_view::npos) break;
    budget.allocate(sizeof(std::string_view));
    parts.push_back(text.substr(0, found));
    text.remove_prefix(found + separator->size());
  }
  parts.push_back(text);
  return parts;
}

std::vector<std::string_view> split_text_from_right(Budget& budget, std::string_view text,
                                                    std::optional<std::string_view> separator,
                                                    std::int64_t limit) {
  if (!separator) return split_at_space_from_right(budget, text, limit);
  if (separator->empty()) raise("cannot split at an empty separator");
  std::vector<std::string_view> parts;
  while (limit-- != 0) {
    const std::size_t found = text.rfind(*separator);
    if (found == std::string_view::npos) break;
    budget.allocate(sizeof(std::string_view));
    parts.push_back(text.substr(found + separator->size()));
    text = text.substr(0, found);
  }
  parts.push_back(text);
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<std::string_view> split_lines(Budget& budget, std::string_view text, bool keep_ends) {
  std::vector<std::string_view> lines;
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = code_point(text, at);
    std::size_t next = at + code_point_size(text, at);
    if (!is_line_end(c)) {
      at = next;
      continue;
    }
    if (c == '\r' && next < text.size() && text[next] == '\n') ++next;
    budget.allocate(sizeof(std::string_view));
    lines.push_back(text.substr(start, (keep_ends ? next : at) - start));
    start = at = next;
  }
  if (start < text.size()) lines.push_back(text.substr(start));
  return lines;
}

std::string capitalize_text(std::string_view text) {
  if (text.empty()) return {};
  const std::size_t first = code_point_size(text, 0);
  std::string result;
  append_title(result, code_point(text, 0));
  return result + to_lower(text.substr(first));
}

std::string pad_text(Budget& budget, std::string_view text, std::int64_t width,
                     std::string_view fill, Align align) {
  if (length(fill) != 1) raise("the fill character must be exactly one character");
  const std::int64_t missing =
      std::max<std::int64_t>(width - static_cast<std::int64_t>(length(text)), 0);
  std::int64_t left = 0;
  if (align == Align::right) left = missing;
  if (align == Align::center) left = missing / 2 + (missing & width & 1);
  budget.require(static_cast<std::uint64_t>(missing), fill.size());
  TextBuilder out(budget);
  for (std::int64_t i = 0; i < left; ++i) out.append(fill), budget.step();
  out.append(text);
  for (std::int64_t i = left; i < missing; ++i) out.append(fill), budget.step();
  return out.take();
}

}  // namespace halogen::jinja
