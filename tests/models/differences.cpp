#include "tests/models/differences.h"

#include <algorithm>
#include <cmath>

#include "tests/models/golden.h"

namespace halogen::test {

double largest_difference(const std::vector<float>& ours, const double* theirs) {
  double largest = 0;
  for (size_t i = 0; i < ours.size(); i++) {
    // A NaN must not pass for a small difference.
    const double difference = std::abs(static_cast<double>(ours[i]) - theirs[i]);
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

double rms_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); i++) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += difference * difference;
  }
  return std::sqrt(sum / static_cast<double>(a.size()));
}

double golden_tolerance(const std::string& folder) {
  // Ours and theirs, independently rounded, may add up.
  constexpr double kNoiseFactor = 2.0;
  // The reference's noise is measured at single prompts; below this it says nothing.
  constexpr double kLeastTolerance = 2e-5;
  double noise = 0;
  for (const GoldenPrompt& prompt : golden_prompts(folder)) noise = std::max(noise, prompt.noise);
  return std::max(kLeastTolerance, kNoiseFactor * noise);
}

}  // namespace halogen::test
