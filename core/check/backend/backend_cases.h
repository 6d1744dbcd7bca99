// Backends: every operator against the reference in float64, and the rest of the contract.
#pragma once

#include <string>
#include <vector>

#include "core/check/case.h"
#include "core/check/subject.h"

namespace halogen::check {

void add_backend_cases(const Options& options, std::vector<Case>& cases);

// Lines for the head of a report: the devices.
std::vector<std::string> backend_introduction(Subject& subject);

}  // namespace halogen::check
