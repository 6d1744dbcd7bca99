// Python's str.format.
#pragma once

#include "core/text/template/interpreter.h"

namespace halogen::jinja {

// format.format(*arguments): "{}", "{0.name[key]!r:>8}". Throws Failure for a malformed format.
Value brace_format(Interpreter& interpreter, const Value& format, const Arguments& arguments);

}  // namespace halogen::jinja
