// Loaders: good files described truly, damaged ones refused with a sentence.
#pragma once

#include <string>
#include <vector>

#include "core/check/case.h"
#include "core/check/subject.h"

namespace halogen::check {

void add_loader_cases(const Options& options, std::vector<Case>& cases);

}  // namespace halogen::check
