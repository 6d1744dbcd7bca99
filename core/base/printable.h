// Text from outside on its way into a message.
#pragma once

#include <string>
#include <string_view>

namespace halogen {

// [any] `text` with each control character written as \xNN, so that it can neither break the line
// that it becomes a part of nor steer a terminal.
std::string printable(std::string_view text);

}  // namespace halogen
