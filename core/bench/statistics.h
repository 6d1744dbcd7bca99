// Medians and percentiles of measurements.
#pragma once

#include <vector>

namespace halogen::bench {

// The value below which `percent` (0 to 100) of the samples lie, between two samples in proportion;
// 0 where there are none.
double percentile(std::vector<double> samples, double percent);

// What a row of a table says of its repetitions.
struct Summary {
  double median = 0, least = 0, most = 0;

  static Summary of(const std::vector<double>& samples);
  // How far the extremes lie apart, as a share of the median.
  double spread() const { return median > 0 ? (most - least) / median : 0; }
};

}  // namespace halogen::bench
