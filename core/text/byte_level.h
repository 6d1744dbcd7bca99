// The alphabet of byte-level BPE, from GPT-2: vocabularies are kept as printable text, so every
// byte has a character. Printable Latin-1 bytes stand for themselves; the other 68, in order, are
// the characters from U+0100 on. A space is U+0120, a line feed U+010A.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace halogen::text {

// [any] The bytes that a token's text stands for, or nothing when a character of it is not in the
// alphabet (then the text means itself).
std::optional<std::string> byte_level_bytes(std::string_view token);

}  // namespace halogen::text
