// Tokens -> syntax tree.
#pragma once

#include <string_view>

#include "core/text/template/statements.h"

namespace halogen::jinja {

// Parses a whole template. Throws Failure, with the line, for what is not a template or uses what
// cannot work here (include, import, extends).
Body parse_template(std::string_view source);

}  // namespace halogen::jinja
