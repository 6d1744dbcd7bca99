// Text from outside on its way into a message.
#pragma once

#include <string>
#include <string_view>

namespace halogen {

// [any] `text` with each control character written as \xNN, so that it can neither break the line
// that it becomes a part of nor steer a terminal.
std::string printable(std::string_view text);

// [any] The first 64 bytes of a name that should be short and ASCII, with each other byte written
// as \xNN, and "..." where more follows: whatever the name is, the message stays one short line.
std::string excerpt(std::string_view name);

}  // namespace halogen
