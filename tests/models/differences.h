// How far two sets of logits are apart, and how far the golden ones let ours be.
#pragma once

#include <string>
#include <vector>

namespace halogen::test {

double largest_difference(const std::vector<float>& ours, const double* theirs);
double rms_difference(const std::vector<float>& a, const std::vector<float>& b);

// For a full-precision model: twice the reference's own float32 error.
double golden_tolerance(const std::string& folder);

}  // namespace halogen::test
