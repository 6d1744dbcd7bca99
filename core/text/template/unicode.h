// UTF-8 text seen as Python sees it: a sequence of code points, with Python's idea of white space,
// line ends and case. A byte that is not valid UTF-8 counts as one code point and is kept as it is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace halogen::jinja {

// Length in bytes (1 to 4) of the code point at `at`, which must be inside `text`.
std::size_t code_point_size(std::string_view text, std::size_t at);

// The code point at `at`; an invalid byte b comes out as 0xDC00 + b, which no valid text contains.
char32_t code_point(std::string_view text, std::size_t at);

void append_utf8(std::string& out, char32_t c);

// Number of code points.
std::size_t length(std::string_view text);

// Byte offset of code point `index`, or text.size() when there are fewer.
std::size_t byte_offset(std::string_view text, std::size_t index);

bool is_space(char32_t c);
bool is_line_end(char32_t c);
bool is_digit(char32_t c);         // ASCII only
bool is_alphanumeric(char32_t c);  // above ASCII: everything but spaces, symbols and punctuation
bool is_printable(char32_t c);
bool is_upper_case(char32_t c);
bool is_lower_case(char32_t c);
bool is_title_case(char32_t c);  // a letter that is a capital and a small one in one: U+01C5

void append_upper(std::string& out, char32_t c);
void append_title(std::string& out, char32_t c);  // as at the start of a word: "ß" becomes "Ss"
void append_lower(std::string& out, char32_t c);
std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);

// Without white space at the left or right end.
std::string_view strip_left(std::string_view text);
std::string_view strip_right(std::string_view text);

}  // namespace halogen::jinja
