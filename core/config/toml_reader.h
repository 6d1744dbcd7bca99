// Reads a TOML file into a flat list of entries. The only place that knows the TOML library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/config/raw_value.h"

namespace halogen {

// [worker] All values of the file, in the order of its lines. Errors: NOT_FOUND or IO where it
// cannot be read; INVALID with file and line where it is not TOML, larger than 1 MiB, or nested
// deeper than any profile.
Result<std::vector<RawEntry>> read_toml_file(const std::string& path);

// [any] The same for text; `name` stands for the file in messages and origins.
Result<std::vector<RawEntry>> read_toml(std::string_view text, const std::string& name);

}  // namespace halogen
