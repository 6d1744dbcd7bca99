// Python's two kinds of format strings, for the `%` operator, the `format` filter and str.format.
#pragma once

#include <string>

#include "core/text/template/value.h"

namespace halogen::jinja {

// format % values: printf style. `values` is a tuple, a dict for %(name)s, or the only value.
Value percent_format(Heap& heap, const Value& format, const Value& values);

// One value by Python's format mini-language: "<8", ".2f", ",d". Numbers, strings and booleans.
std::string format_value(Heap& heap, const Value& value, std::string_view specification);

}  // namespace halogen::jinja
