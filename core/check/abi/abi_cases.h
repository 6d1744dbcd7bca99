// What holds for every plugin: entry, manifest, tables, settings, and leaving no trace.
#pragma once

#include <string>
#include <vector>

#include "core/check/case.h"
#include "core/check/subject.h"

namespace halogen::check {

void add_abi_cases(const Options& options, std::vector<Case>& cases);

// Lines for the head of a report: version, licence, ABI.
std::vector<std::string> abi_introduction(Subject& subject);

}  // namespace halogen::check
