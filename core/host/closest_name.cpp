#include "core/host/closest_name.h"

#include <algorithm>
#include <numeric>

namespace halogen {
namespace {

size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view closest_name(std::string_view name, const std::vector<std::string>& candidates) {
  size_t least = std::max<size_t>(name.size() / 3, 1) + 1;
  std::string_view closest;
  for (const std::string& candidate : candidates) {
    const size_t edits = distance(name, candidate);
    if (edits >= least) continue;
    least = edits;
    closest = candidate;
  }
  return closest;
}

}  // namespace halogen
