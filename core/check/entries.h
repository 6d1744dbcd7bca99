// What the process has open, as its folders in /proc show it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <system_error>

namespace halogen::check {

inline size_t entries_of(const char* folder) {
  std::error_code ignored;
  size_t count = 0;
  for (std::filesystem::directory_iterator it(folder, ignored), end; it != end;
       it.increment(ignored))
    count++;
  return count;
}

}  // namespace halogen::check
