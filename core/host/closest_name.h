// The known name that a misspelt one was probably meant to be, for "did you mean" in messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace halogen {

// [any] The candidate with the least Levenshtein distance to `name`, the first of equals; empty
// where more than a third of the letters would have to change.
std::string_view closest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace halogen
