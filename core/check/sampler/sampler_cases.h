// Samplers: what can come out, how often, and what it depends on.
#pragma once

#include <string>
#include <vector>

#include "core/check/case.h"
#include "core/check/subject.h"

namespace halogen::check {

void add_sampler_cases(const Options& options, std::vector<Case>& cases);

}  // namespace halogen::check
