#include "core/host/cpu_features.h"

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

namespace halogen {

std::vector<std::string> missing_cpu_features(const std::vector<std::string>& wanted) {
  std::vector<std::string> missing;
  if (wanted.empty()) return missing;
  std::ifstream info("/proc/cpuinfo");
  std::string line;
  while (std::getline(info, line)) {
    if (!line.starts_with("flags") && !line.starts_with("Features")) continue;  // x86, Arm
    std::istringstream words(line.substr(line.find(':') + 1));
    const std::set<std::string> present(std::istream_iterator<std::string>{words}, {});
    for (const std::string& feature : wanted)
      if (!present.contains(feature)) missing.push_back(feature);
    break;
  }
  return missing;
}

}  // namespace halogen
