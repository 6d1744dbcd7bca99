// Words that several messages of the host share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace halogen {

// "a, b, c"; empty for none.
inline std::string joined(const std::vector<std::string>& items, std::string_view separator) {
  std::string list;
  for (const std::string& item : items) {
    if (!list.empty()) list += separator;
    list += item;
  }
  return list;
}

// "1.0"
inline std::string version_text(unsigned major, unsigned minor) {
  return std::to_string(major) + '.' + std::to_string(minor);
}

}  // namespace halogen
