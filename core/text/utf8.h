// UTF-8: reading one character, finding where text stops being valid, and making text valid.
// Invalid bytes are replaced the way the Unicode standard recommends (chapter 3.9, "U+FFFD
// substitution of maximal subparts"): each longest start of a character that was broken off becomes
// one U+FFFD, and so does each byte that can start nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace halogen::text {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

enum class Utf8 {
  kValid,
  kInvalid,     // a broken character; `length` covers its maximal subpart
  kIncomplete,  // the text ends within a character that is right so far
};

struct Utf8Character {
  Utf8 state = Utf8::kInvalid;
  uint32_t length = 0;      // bytes, at least 1
  uint32_t code_point = 0;  // when valid
};

// [any] The character at the start of `text`, which must not be empty.
Utf8Character read_character(std::string_view text);

// [any] The first character of `text`, which must not be empty; a byte of a broken one counts
// alone.
std::string_view first_character(std::string_view text);

// [any] The length of the longest valid prefix, in bytes.
size_t valid_prefix(std::string_view text);

// [any] The length of the longest prefix that does not end within a character: text.size(), or up
// to 3 bytes less. Invalid bytes before it do not matter. Constant time.
size_t complete_prefix(std::string_view text);

// [any] Appends `text` to `out` with every invalid part replaced by U+FFFD.
void append_sanitized(std::string_view text, std::string& out);

// [any] `text` with every invalid part replaced by U+FFFD.
std::string sanitized(std::string_view text);

// [any] Appends one code point, which must be a Unicode scalar value.
void append_character(uint32_t code_point, std::string& out);

}  // namespace halogen::text
