// Unicode's normalization forms. Some models' tokenizers bring text to form C before anything else:
// a letter and its accent become the one character that means both. Form D is the other way round.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halogen::text {

// [any] True when the text cannot change: it has no character from U+0300 on, where the first
// combining mark lies. Reads each byte once.
bool is_surely_normalized(std::string_view text);

// [any] `text` in form C (UAX #15). Bytes that are not valid UTF-8 stay where they are and separate
// what is before from what is after. Takes n log n steps for any text.
std::string normalized_nfc(std::string_view text);

// [any] Code points in form D: every character taken apart into a base and its marks.
std::vector<uint32_t> decomposed(const std::vector<uint32_t>& characters);

}  // namespace halogen::text
