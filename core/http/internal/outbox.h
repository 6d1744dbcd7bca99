// What a connection still has to send: one buffer that is being filled and one that the kernel is
// taking. All that is written in one round of the loop becomes one system call.
#pragma once

#include <cstdint>
#include <string>

#include <uv.h>

namespace halogen::http {

class Connection;

class Outbox {
 public:
  // `stream` belongs to `connection`, which learns through on_written() that a write ended.
  Outbox(uv_stream_t* stream, Connection* connection);

  // Bytes appended here leave at the next flush().
  std::string& pending() { return pending_; }

  // Bytes that the kernel has not taken.
  size_t buffered() const;

  // Bytes that the kernel has taken, ever.
  uint64_t sent() const { return appended_ + pending_.size() - buffered(); }

  // True while the kernel has not taken all that was handed to it.
  bool blocked() const { return writing_; }

  // Lets go of memory that an idle connection does not need.
  void shrink();

  // Hands pending bytes to the kernel, unless it is still busy with the last ones. Returns a
  // negative libuv error when the connection is broken.
  int flush();

 private:
  uv_stream_t* stream_;
  uv_write_t request_{};
  std::string pending_;
  std::string in_flight_;
  uint64_t appended_ = 0;  // bytes that have left pending_
  bool writing_ = false;
};

}  // namespace halogen::http
