// What this machine's processor offers, by the words that the kernel and the manifests use.
#pragma once

#include <string>
#include <vector>

namespace halogen {

// [worker] Those of `wanted` ("avx2", "avx512_bf16") that /proc/cpuinfo does not list. All are
// taken as present where the kernel lists none.
std::vector<std::string> missing_cpu_features(const std::vector<std::string>& wanted);

}  // namespace halogen
