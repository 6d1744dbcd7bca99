// Reading numbers and strings as Python writes them.
#include "core/text/template/literals.h"

#include <charconv>
#include <limits>

#include "core/text/template/budget.h"
#include "core/text/template/unicode.h"

namespace halogen::jinja {

namespace {

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'z' ? lower - 'a' + 10 : 99;
}

// Past a run of digits of `base` with single underscores between them; `at` itself if there is
// none.
std::size_t past_digits(std::string_view text, std::size_t at, int base) {
  std::size_t end = at;
  while (end < text.size()) {
    const bool separator = text[end] == '_' && end > at && end + 1 < text.size();
    if (digit_value(text[separator ? end + 1 : end]) >= base) break;
    end += separator ? 2 : 1;
  }
  return end;
}

std::string without_underscores(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c != '_') result.push_back(c);
  }
  return result;
}

std::int64_t to_integer(std::string_view digits, int base, bool negative, int line) {
  const std::string text = (negative ? "-" : "") + without_underscores(digits);
  std::int64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (result.ec != std::errc{})
    raise("an integer does not fit in 64 bits: " + text.substr(0, 40), line);
  return value;
}

double to_real(std::string_view literal) {
  const std::string text = without_underscores(literal);
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc::result_out_of_range) return value;
  const std::size_t exponent = text.find_first_of("eE");
  const bool tiny = exponent != std::string::npos && text[exponent + 1] == '-';
  return tiny ? 0.0 : std::numeric_limits<double>::infinity();
}

// Past the fraction and exponent of a real number whose whole part ends at `at`; `at` if it has
// none.
std::size_t past_real(std::string_view text, std::size_t at) {
  std::size_t end = at;
  if (end < text.size() && text[end] == '.') {
    const std::size_t fraction = past_digits(text, end + 1, 10);
    if (fraction > end + 1) end = fraction;
  }
  if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    std::size_t digits = end + 1;
    if (digits < text.size() && (text[digits] == '+' || text[digits] == '-')) ++digits;
    const std::size_t exponent = past_digits(text, digits, 10);
    if (exponent > digits) end = exponent;
  }
  return end;
}

int prefixed_base(std::string_view text) {
  if (text.size() < 2 || text[0] != '0') return 10;
  switch (text[1] | 0x20) {
    case 'x':
      return 16;
    case 'o':
      return 8;
    case 'b':
      return 2;
    default:
      return 10;
  }
}

// Appends what the escape at literal[at] (after the backslash) stands for; returns the byte after
// it.
std::size_t append_escape(std::string& out, std::string_view literal, std::size_t at, int line) {
  const char c = literal[at];
  constexpr std::string_view kNames = "\\'\"abfnrtv";
  constexpr std::string_view kMeanings = "\\'\"\a\b\f\n\r\t\v";
  if (c == '\n') return at + 1;
  if (const std::size_t simple = kNames.find(c); simple != std::string_view::npos) {
    out.push_back(kMeanings[simple]);
    return at + 1;
  }
  if (c >= '0' && c <= '7') {
    char32_t value = 0;
    std::size_t end = at;
    while (end < literal.size() && end < at + 3 && digit_value(literal[end]) < 8) {
      value = value * 8 + static_cast<char32_t>(digit_value(literal[end++]));
    }
    append_utf8(out, value);
    return end;
  }
  if (c == 'N')
    raise("character names (\\N{...}) are not supported; write \\u and its number", line);
  if (c != 'x' && c != 'u' && c != 'U') {
    out.push_back('\\');
    return at;
  }
  const std::size_t count = c == 'x' ? 2 : c == 'u' ? 4 : 8;
  char32_t value = 0;
  for (std::size_t i = at + 1; i <= at + count; ++i) {
    if (i >= literal.size() || digit_value(literal[i]) >= 16) {
      raise("a string has an incomplete \\" + std::string(1, c) + " escape", line);
    }
    value = value * 16 + static_cast<char32_t>(digit_value(literal[i]));
  }
  if (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) {
    raise("a string escape names no Unicode character", line);
  }
  append_utf8(out, value);
  return at + 1 + count;
}

}  // namespace

NumberLiteral read_number(std::string_view text, std::size_t at, int line) {
  NumberLiteral number;
  const std::size_t whole = past_digits(text, at, 10);
  number.end = past_real(text, whole);
  if (number.end > whole) {
    number.is_real = true;
    number.real = to_real(text.substr(at, number.end - at));
    return number;
  }
  const int base = prefixed_base(text.substr(at));
  std::size_t digits = at;
  if (base != 10) {
    digits = at + 2;
    if (digits < text.size() && text[digits] == '_') ++digits;
    number.end = past_digits(text, digits, base);
    if (number.end == digits) raise("a number has no digits after its prefix", line);
  }
  number.integer = to_integer(text.substr(digits, number.end - digits), base, false, line);
  return number;
}

std::string unescape(std::string_view literal, int line) {
  std::string out;
  out.reserve(literal.size());
  for (std::size_t at = 0; at < literal.size();) {
    if (literal[at] != '\\' || at + 1 >= literal.size()) {
      out.push_back(literal[at++]);
    } else {
      at = append_escape(out, literal, at + 1, line);
    }
  }
  return out;
}

std::optional<std::int64_t> parse_integer(std::string_view text, int base) {
  text = strip_left(strip_right(text));
  const bool negative = !text.empty() && text[0] == '-';
  if (negative || (!text.empty() && text[0] == '+')) text.remove_prefix(1);
  const int prefix = prefixed_base(text);
  if (prefix != 10 && (base == 0 || base == prefix)) {
    base = prefix;
    text.remove_prefix(2);
    if (!text.empty() && text[0] == '_') text.remove_prefix(1);
  }
  if (base == 0) base = 10;
  if (base < 2 || base > 36 || text.empty() || past_digits(text, 0, base) != text.size()) {
    return std::nullopt;
  }
  return to_integer(text, base, negative, 0);
}

std::optional<double> parse_real(std::string_view text) {
  text = strip_left(strip_right(text));
  const bool negative = !text.empty() && text[0] == '-';
  if (negative || (!text.empty() && text[0] == '+')) text.remove_prefix(1);
  const double sign = negative ? -1.0 : 1.0;
  const std::string lower = to_lower(text);
  if (lower == "inf" || lower == "infinity") return sign * std::numeric_limits<double>::infinity();
  if (lower == "nan") return std::numeric_limits<double>::quiet_NaN();
  const std::size_t whole = past_digits(text, 0, 10);
  std::size_t end = past_real(text, whole);
  if (end == whole && whole > 0 && end < text.size() && text[end] == '.') {  // "1." and "1.e5"
    end = past_real(text, whole + 1);
  }
  if (text.empty() || end != text.size() || (whole == 0 && text[0] != '.') || text == ".") {
    return std::nullopt;
  }
  return sign * to_real(text);
}

}  // namespace halogen::jinja
