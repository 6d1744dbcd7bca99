// Python's string algorithms that filters and methods share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/template/budget.h"

namespace halogen::jinja {

// text.replace(old, with, count); a negative count replaces all.
std::string replace_text(Budget& budget, std::string_view text, std::string_view old,
                         std::string_view with, std::int64_t count);

// Which ends to strip.
enum class Ends : std::uint8_t { left = 1, right = 2, both = 3 };

// text.strip(characters); absent: white space.
std::string_view strip_text(std::string_view text, std::optional<std::string_view> characters,
                            Ends ends);

// text.split(separator, limit) and text.rsplit; an absent separator means runs of white space, a
// negative limit no limit. Throws Failure for an empty separator.
std::vector<std::string_view> split_text(Budget& budget, std::string_view text,
                                         std::optional<std::string_view> separator,
                                         std::int64_t limit);
std::vector<std::string_view> split_text_from_right(Budget& budget, std::string_view text,
                                                    std::optional<std::string_view> separator,
                                                    std::int64_t limit);

// Python's str.splitlines: split at every kind of line end, without an empty last line.
std::vector<std::string_view> split_lines(Budget& budget, std::string_view text,
                                          bool keep_ends = false);

// The first letter in upper case, the others in lower case.
std::string capitalize_text(std::string_view text);

// text.center, ljust and rjust: padded to `width` code points with `fill`.
enum class Align : std::uint8_t { left, center, right };
std::string pad_text(Budget& budget, std::string_view text, std::int64_t width,
                     std::string_view fill, Align align);

}  // namespace halogen::jinja
