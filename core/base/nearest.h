// "Did you mean …?": the known word that a misspelt one is closest to.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halogen {

// [any] Edits (insert, remove, replace, or swap of two neighbours) that turn `a` into `b`: the
// optimal string alignment distance.
std::size_t edit_distance(std::string_view a, std::string_view b);

// [any] The candidate with the least edit distance to `word`, the first of equals; empty where none
// is within a third of the word's length (at least 1 edit, and 2 from four letters on).
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);
std::string_view nearest(std::string_view word, const std::vector<std::string>& candidates);

// [any] The most edits at which `word` still counts as a misspelling; what nearest() uses.
std::size_t tolerated_edits(std::string_view word);

}  // namespace halogen
