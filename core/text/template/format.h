// Values as text: Python's str() and repr().
#pragma once

#include <string>
#include <string_view>

#include "core/text/template/value.h"

namespace halogen::jinja {

// str(value): what printing it writes. Undefined is empty.
void append_text(TextBuilder& out, Budget& budget, const Value& value);
std::string to_text(Budget& budget, const Value& value);

// repr(value): strings in quotes, containers with their items.
void append_representation(TextBuilder& out, Budget& budget, const Value& value);
std::string to_representation(Budget& budget, const Value& value);

// repr of a float: the shortest digits that read back as `value`, always with a point or an
// exponent.
std::string real_text(double value);

}  // namespace halogen::jinja
