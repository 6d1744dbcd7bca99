// Decoding and classification of UTF-8 text.
#include "core/text/template/unicode.h"

namespace halogen::jinja {

namespace {

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// Start of the code point that ends before byte `end`.
std::size_t previous(std::string_view text, std::size_t end) {
  std::size_t at = end - 1;
  while (at > 0 && end - at < 4 && is_continuation(text[at])) --at;
  return at + code_point_size(text, at) == end ? at : end - 1;
}

}  // namespace

std::size_t code_point_size(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  std::size_t size = 1;
  if (lead >= 0xC2 && lead <= 0xDF) size = 2;
  if (lead >= 0xE0 && lead <= 0xEF) size = 3;
  if (lead >= 0xF0 && lead <= 0xF4) size = 4;
  if (at + size > text.size()) return 1;
  for (std::size_t i = 1; i < size; ++i) {
    if (!is_continuation(text[at + i])) return 1;
  }
  return size;
}

char32_t code_point(std::string_view text, std::size_t at) {
  const std::size_t size = code_point_size(text, at);
  const auto lead = static_cast<unsigned char>(text[at]);
  if (size == 1) return lead < 0x80 ? lead : 0xDC00U + lead;
  char32_t c = lead & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    c = (c << 6) | (static_cast<unsigned char>(text[at + i]) & 0x3FU);
  }
  return c;
}

void append_utf8(std::string& out, char32_t c) {
  if (c < 0x80) {
    out.push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out.push_back(static_cast<char>(0xC0 | (c >> 6)));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else if (c >= 0xDC80 && c <= 0xDCFF) {  // an invalid byte, see code_point
    out.push_back(static_cast<char>(c - 0xDC00));
  } else if (c < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | (c >> 12)));
    out.push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else {
    out.push_back(static_cast<char>(0xF0 | (c >> 18)));
    out.push_back(static_cast<char>(0x80 | ((c >> 12) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  }
}

std::size_t length(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); at += code_point_size(text, at)) ++count;
  return count;
}

std::size_t byte_offset(std::string_view text, std::size_t index) {
  std::size_t at = 0;
  while (index > 0 && at < text.size()) {
    at += code_point_size(text, at);
    --index;
  }
  return at;
}

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

bool is_line_end(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

bool is_digit(char32_t c) {
  return c >= '0' && c <= '9';
}

bool is_alphanumeric(char32_t c) {
  if (c < 0x80) return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
  if (c < 0xC0)
    return c == 0xAA || c == 0xB2 || c == 0xB3 || c == 0xB5 ||
           (c >= 0xB9 && c <= 0xBE && c != 0xBB);
  if (c == 0xD7 || c == 0xF7) return false;
  const bool punctuation = (c >= 0x2000 && c <= 0x206F) || (c >= 0x20A0 && c <= 0x20CF) ||
                           (c >= 0x2190 && c <= 0x245F) || (c >= 0x2500 && c <= 0x2BFF) ||
                           (c >= 0x3000 && c <= 0x3004) || (c >= 0x3008 && c <= 0x3020) ||
                           (c >= 0xD800 && c <= 0xF8FF) || (c >= 0xFE00 && c <= 0xFE6F) ||
                           (c >= 0xFF01 && c <= 0xFF0F) || (c >= 0x1F000 && c <= 0x1FAFF) ||
                           c >= 0xE0000;
  return !punctuation && !is_space(c);
}

bool is_printable(char32_t c) {
  if (c < 0x7F) return c >= 0x20;
  if (c <= 0xA0 || c == 0xAD || is_space(c)) return false;
  return !((c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) ||
           (c >= 0x2060 && c <= 0x206F) || (c >= 0xD800 && c <= 0xF8FF) || c == 0xFEFF ||
           (c >= 0xFFF0 && c <= 0xFFFB) || (c & 0xFFFE) == 0xFFFE || c >= 0xE0000);
}

std::string to_upper(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); at += code_point_size(text, at)) {
    append_upper(out, code_point(text, at));
  }
  return out;
}

std::string to_lower(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); at += code_point_size(text, at)) {
    append_lower(out, code_point(text, at));
  }
  return out;
}

std::string_view strip_left(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && is_space(code_point(text, at))) at += code_point_size(text, at);
  return text.substr(at);
}

std::string_view strip_right(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0) {
    const std::size_t at = previous(text, end);
    if (!is_space(code_point(text, at))) break;
    end = at;
  }
  return text.substr(0, end);
}

}  // namespace halogen::jinja
