// The two forms in which `halogen plugins inspect` answers.
#pragma once

#include <string>

#include "core/host/inspection.h"

namespace halogen {

// [any] For people: what it is, what is wrong, and the verdict in the last line. Control characters
// of the file are escaped.
std::string inspection_text(const Inspection& inspection);

// [any] For programs: one object; what is not known is null.
std::string inspection_json(const Inspection& inspection);

}  // namespace halogen
