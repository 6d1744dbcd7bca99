#include "plugins/gguf/byte_cursor.h"

#include <algorithm>

#include "plugins/gguf/text.h"

namespace halogen::gguf {
namespace {

constexpr uint64_t kWindowBytes = uint64_t{256} << 10;

}  // namespace

ByteCursor::ByteCursor(const ReadOnlyFile& file)
    : file_(file), limit_(std::min(file.size(), kMaxHeaderBytes)) {
  window_.resize(std::min(kWindowBytes, limit_));
}

bool ByteCursor::expect_many(uint64_t count, uint64_t least_bytes, std::string_view what,
                             Failure& failure) const {
  if (count <= remaining() / least_bytes) return true;
  return failure.set(HALOGEN_E_INVALID, concat("says ", count, " ", what, ", more than the ",
                                               remaining(), " bytes after byte ", position_,
                                               " can hold; the file is damaged or incomplete"));
}

bool ByteCursor::read_slowly(void* to, uint64_t bytes, Failure& failure) {
  if (!expect(bytes, failure)) return false;
  if (bytes >= window_.size()) {
    if (!file_.read(position_, to, bytes, failure)) return false;
    position_ += bytes;
    window_begin_ = window_end_ = position_;
    return true;
  }
  const uint64_t fill = std::min<uint64_t>(window_.size(), limit_ - position_);
  window_begin_ = window_end_ = position_;
  if (!file_.read(position_, window_.data(), fill, failure)) return false;
  window_end_ = position_ + fill;
  std::memcpy(to, window_.data(), bytes);
  position_ += bytes;
  return true;
}

bool ByteCursor::past_end(uint64_t bytes, Failure& failure) const {
  if (limit_ < file_.size()) {
    return failure.set(HALOGEN_E_INVALID, concat("needs ", bytes, " bytes at byte ", position_,
                                                 ", but a header of more than ", kMaxHeaderBytes,
                                                 " bytes is not read; the file is damaged"));
  }
  return failure.set(HALOGEN_E_INVALID, concat("needs ", bytes, " bytes at byte ", position_,
                                               ", but the file ends at byte ", limit_,
                                               "; it is damaged or incomplete"));
}

}  // namespace halogen::gguf
