// What takes long, on one line of a terminal that is wiped away in the end; nothing where standard
// error is no terminal.
#pragma once

#include <iostream>
#include <string_view>

#include <unistd.h>

namespace halogen::cli {

class ProgressLine {
 public:
  // Always true, so that it can be a loader's progress.
  bool show(std::string_view stage, double fraction) {
    if (terminal_) {
      std::cerr << "\r\x1b[K" << stage << ' ' << static_cast<int>(fraction * 100) << " %"
                << std::flush;
    }
    return true;
  }
  void wipe() const {
    if (terminal_) std::cerr << "\r\x1b[K" << std::flush;
  }

 private:
  bool terminal_ = ::isatty(STDERR_FILENO) != 0;
};

}  // namespace halogen::cli
