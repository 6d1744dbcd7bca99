// Schedulers: the invariants of a plan, over random views and whole histories.
#pragma once

#include <string>
#include <vector>

#include "core/check/case.h"
#include "core/check/subject.h"

namespace halogen::check {

void add_scheduler_cases(const Options& options, std::vector<Case>& cases);

}  // namespace halogen::check
