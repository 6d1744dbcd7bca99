#include "core/http/internal/outbox.h"

#include <utility>

#include "core/http/internal/connection.h"

namespace halogen::http {

namespace {

// A connection that once sent a large response does not keep its memory.
void release(std::string& buffer) {
  constexpr size_t kKept = 16 << 10;
  if (buffer.capacity() > kKept) {
    buffer = std::string();
  } else {
    buffer.clear();
  }
}

}  // namespace

Outbox::Outbox(uv_stream_t* stream, Connection* connection) : stream_(stream) {
  request_.data = connection;
}

size_t Outbox::buffered() const {
  return pending_.size() + uv_stream_get_write_queue_size(stream_);
}

void Outbox::shrink() {
  if (pending_.empty()) pending_.shrink_to_fit();
  if (!writing_) in_flight_.shrink_to_fit();
}

int Outbox::flush() {
  if (writing_ || pending_.empty()) return 0;
  uv_buf_t buffer{pending_.data(), pending_.size()};
  int taken = uv_try_write(stream_, &buffer, 1);
  if (taken == UV_EAGAIN) taken = 0;
  if (taken < 0) return taken;
  appended_ += pending_.size();
  if (static_cast<size_t>(taken) == pending_.size()) {
    release(pending_);
    return 0;
  }
  std::swap(pending_, in_flight_);
  buffer = {in_flight_.data() + taken, in_flight_.size() - taken};
  writing_ = true;
  return uv_write(&request_, stream_, &buffer, 1, [](uv_write_t* request, int status) noexcept {
    auto* self = static_cast<Connection*>(request->data);
    Outbox& outbox = self->outbox();
    outbox.writing_ = false;
    release(outbox.in_flight_);
    self->on_written(status);
  });
}

}  // namespace halogen::http
