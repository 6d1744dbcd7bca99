#include "plugins/gguf/read_only_file.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugins/gguf/text.h"

namespace halogen::gguf {
namespace {

std::string error_text(int error) {
  return std::generic_category().message(error);
}

}  // namespace

ReadOnlyFile::~ReadOnlyFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool ReadOnlyFile::open(const std::string& path, Failure& failure) {
  // O_NONBLOCK: opening a pipe that nobody writes to would otherwise wait for ever.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) {
      return failure.set(HALOGEN_E_NOT_FOUND, "there is no such file");
    }
    return failure.set(HALOGEN_E_IO, concat("cannot be opened: ", error_text(error)));
  }
  struct stat status = {};
  if (::fstat(descriptor_, &status) != 0) {
    return failure.set(HALOGEN_E_IO, concat("cannot be examined: ", error_text(errno)));
  }
  if (S_ISDIR(status.st_mode)) {
    return failure.set(HALOGEN_E_INVALID, "is a folder; name the .gguf file inside it");
  }
  if (!S_ISREG(status.st_mode)) {
    return failure.set(HALOGEN_E_INVALID, "is not a regular file");
  }
  size_ = static_cast<uint64_t>(status.st_size);
  return true;
}

bool ReadOnlyFile::read(uint64_t offset, void* to, uint64_t bytes, Failure& failure) const {
  constexpr uint64_t kMaxRead = uint64_t{1} << 30;  // Linux reads at most 2 GiB in one call
  auto* target = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got =
        ::pread(descriptor_, target, std::min(bytes, kMaxRead), static_cast<off_t>(offset));
    if (got < 0) {
      if (errno == EINTR) continue;
      return failure.set(HALOGEN_E_IO,
                         concat("reading at byte ", offset, " failed: ", error_text(errno)));
    }
    if (got == 0) {
      return failure.set(HALOGEN_E_IO, concat("the file ended at byte ", offset,
                                              " although it was longer when it was opened; is "
                                              "something still writing it?"));
    }
    target += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<uint64_t>(got);
  }
  return true;
}

}  // namespace halogen::gguf
