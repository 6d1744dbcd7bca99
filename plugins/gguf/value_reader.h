// Reads one metadata value, with its type, from a file that nobody trusts.
#pragma once

#include "plugins/gguf/byte_cursor.h"
#include "plugins/gguf/failure.h"
#include "plugins/gguf/value.h"

namespace halogen::gguf {

// Reads the type and the value that follow a key. Every length is compared with what is left of the
// file before anything is allocated.
//
// Arrays of arrays are legal in the format, but no key that halogen knows has one: they are checked
// and stepped over to a depth of 8, and `value` becomes an array of `array` whose bytes are not
// kept.
bool read_value(ByteCursor& cursor, Value& value, Failure& failure);

// Reads a length and that many bytes; longer than `most_bytes` is an error.
bool read_string(ByteCursor& cursor, uint64_t most_bytes, std::string& text, Failure& failure);

}  // namespace halogen::gguf
