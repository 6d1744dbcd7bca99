// A file that is read by position and never mapped: a file that shrinks under a mapping kills the
// process with SIGBUS, one that shrinks under pread gives an error.
#pragma once

#include <cstdint>
#include <string>

#include "plugins/gguf/failure.h"

namespace halogen::gguf {

class ReadOnlyFile {
 public:
  ReadOnlyFile() = default;
  ~ReadOnlyFile();
  ReadOnlyFile(const ReadOnlyFile&) = delete;
  ReadOnlyFile& operator=(const ReadOnlyFile&) = delete;

  // Opens a regular file; anything else (a folder, a pipe) is refused without blocking.
  bool open(const std::string& path, Failure& failure);

  // The size in bytes when the file was opened.
  uint64_t size() const { return size_; }

  // Reads exactly `bytes` at `offset`; fewer in the file is an error.
  bool read(uint64_t offset, void* to, uint64_t bytes, Failure& failure) const;

 private:
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

}  // namespace halogen::gguf
