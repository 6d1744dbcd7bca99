#include "core/bench/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace halogen::bench {

double percentile(std::vector<double> samples, double percent) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  const double place = percent / 100 * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<size_t>(std::floor(place));
  const size_t above = std::min(below + 1, samples.size() - 1);
  return samples[below] + (place - std::floor(place)) * (samples[above] - samples[below]);
}

Summary Summary::of(const std::vector<double>& samples) {
  return {percentile(samples, 50), percentile(samples, 0), percentile(samples, 100)};
}

}  // namespace halogen::bench
