// A file in memory with a path, for code that opens files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

namespace halogen::fuzz {

class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    require(descriptor_ >= 0, "a file in memory can be made");
    path_ = "/proc/self/fd/" + std::to_string(descriptor_);
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  const std::string& path() const { return path_; }

  // Replaces what is in it; where `size` is more than `bytes` has, zeros follow that take no
  // memory.
  void write(std::string_view bytes, uint64_t size = 0) {
    bool written = ::ftruncate(descriptor_, 0) == 0;
    written = written && ::pwrite(descriptor_, bytes.data(), bytes.size(), 0) ==
                             static_cast<ssize_t>(bytes.size());
    if (size > bytes.size()) {
      written = written && ::ftruncate(descriptor_, static_cast<off_t>(size)) == 0;
    }
    require(written, "a file in memory can be written");
  }

 private:
  int descriptor_;
  std::string path_;
};

}  // namespace halogen::fuzz
