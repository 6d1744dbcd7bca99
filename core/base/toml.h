// TOML from outside, for the rooms that read it: the library with the settings that make it safe,
// and the one way to call its parser.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.h"

// The library asserts what it has not checked yet: "[=" aborts in a debug build, and with NDEBUG
// the assertion becomes an assumption for the optimiser, which then drops the branch that reports
// the error. Without either, that branch runs.
#undef NDEBUG
#define TOML_ASSERT(expr) static_assert(true)
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_MAX_NESTED_VALUES 32  // times kMaxKeyDots bounds the depth of everything that recurses
#define TOML_ENABLE_FORMATTERS 0
#define TOML_ENABLE_UNRELEASED_FEATURES 0
#include <toml++/toml.h>  // IWYU pragma: export

namespace halogen {

// What is larger is no file of halogen's.
inline constexpr std::size_t kMaxTomlBytes = std::size_t{1} << 20;

// [any] Parses `text`; `name` stands for the file in messages. INVALID with name and line where it
// is not TOML, larger than 1 MiB, or nested deeper than any file of halogen's.
Result<toml::table> parse_toml(std::string_view text, const std::string& name);

// [any] "halogen.toml:12".
std::string at_line(const std::string& name, std::size_t line);

}  // namespace halogen
