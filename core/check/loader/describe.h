// Whether what a loader says of a model holds together.
#pragma once

#include <string>

#include "halogen/loader.h"

#include "core/check/case.h"

namespace halogen::check {

// Reads everything that the model has: files, tensors (names unique, types known, bytes that fit
// shape and type, within the file and apart from each other), metadata (normalised keys first, keys
// unique and found again, arrays sound).
void check_description(const halogen_loader_factory& loader, const halogen_model* model,
                       Findings& findings);

}  // namespace halogen::check
