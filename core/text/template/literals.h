// Number and string literals of templates, by Python's rules; also used by the `int` and `float`
// filters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace halogen::jinja {

struct NumberLiteral {
  bool is_real = false;
  std::int64_t integer = 0;
  double real = 0;
  std::size_t end = 0;  // the byte after the literal
};

// Reads the number that starts at byte `at` of `text`, which must be a digit. Throws Failure (with
// `line`) for an integer of more than 64 bits.
NumberLiteral read_number(std::string_view text, std::size_t at, int line);

// Resolves the escapes of a string literal's inside. Throws Failure (with `line`) for a malformed
// one.
std::string unescape(std::string_view literal, int line);

// Python's int(text, base) and float(text): the whole text, white space around it allowed. Absent
// when Python would raise ValueError. Throws Failure for an integer of more than 64 bits.
std::optional<std::int64_t> parse_integer(std::string_view text, int base);
std::optional<double> parse_real(std::string_view text);

}  // namespace halogen::jinja
