// Unicode's normalization form C, which some models' tokenizers bring text to before anything else:
// a letter and its accent become the one character that means both.
#pragma once

#include <string>
#include <string_view>

namespace halogen::text {

// [any] True when the text cannot change: it has no character from U+0300 on, where the first
// combining mark lies. Reads each byte once.
bool is_surely_normalized(std::string_view text);

// [any] `text` in form C (UAX #15). Bytes that are not valid UTF-8 stay where they are and separate
// what is before from what is after. Takes n log n steps for any text.
std::string normalized_nfc(std::string_view text);

}  // namespace halogen::text
