// Reads a file from front to back, little-endian, through a window, and never past its end.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "plugins/gguf/failure.h"
#include "plugins/gguf/read_only_file.h"

namespace halogen::gguf {

static_assert(std::endian::native == std::endian::little,
              "numbers are copied from the file as they are");

class ByteCursor {
 public:
  // What a header may take at most. The largest known (a vocabulary of 262,144 tokens with its
  // merges) takes 16 MiB; a damaged count in a file of 70 GB must not have us read all of it as one
  // array.
  static constexpr uint64_t kMaxHeaderBytes = uint64_t{1} << 30;

  // `file` is borrowed and must outlive the cursor.
  explicit ByteCursor(const ReadOnlyFile& file);

  uint64_t position() const { return position_; }

  // Bytes that may still be read: to the end of the file or of the largest header.
  uint64_t remaining() const { return limit_ - position_; }

  // Copies the next `bytes` bytes; past the end is an error, and then nothing moved.
  bool read(void* to, uint64_t bytes, Failure& failure) {
    if (bytes == 0) return true;  // `to` may be the null of an empty vector
    if (bytes <= window_end_ - position_) {
      std::memcpy(to, window_.data() + (position_ - window_begin_), bytes);
      position_ += bytes;
      return true;
    }
    return read_slowly(to, bytes, failure);
  }

  template <typename Number>
  bool number(Number& to, Failure& failure) {
    return read(&to, sizeof to, failure);
  }

  // Checks that `bytes` more bytes are there; call it before allocating for them.
  bool expect(uint64_t bytes, Failure& failure) const {
    return bytes <= remaining() || past_end(bytes, failure);
  }

  // Checks that `count` things of at least `least_bytes` each can still be there.
  bool expect_many(uint64_t count, uint64_t least_bytes, std::string_view what,
                   Failure& failure) const;

 private:
  bool read_slowly(void* to, uint64_t bytes, Failure& failure);
  bool past_end(uint64_t bytes, Failure& failure) const;

  const ReadOnlyFile& file_;
  uint64_t limit_;
  uint64_t position_ = 0;
  std::vector<char> window_;  // bytes window_begin_ .. window_end_ of the file
  uint64_t window_begin_ = 0;
  uint64_t window_end_ = 0;
};

}  // namespace halogen::gguf
