#include "core/http/internal/connection.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

#include "core/http/error_body.h"
#include "core/http/internal/response_head.h"
#include "core/http/internal/server_core.h"

namespace halogen::http {

namespace {

// For how long an idle connection keeps the buffers of its last request for its next one.
constexpr std::chrono::milliseconds kBuffersKept{1'000};

}  // namespace

Connection::Connection(ServerCore& core, std::string peer)
    : core_(core),
      outbox_(reinterpret_cast<uv_stream_t*>(&socket_), this),
      parser_({core.options().header_limit, core.options().header_fields_limit,
               core.options().target_limit, core.options().body_limit},
              core.options().gate),
      peer_(std::move(peer)) {}

void Connection::open(ServerCore& core, int fd, std::string peer, bool turn_away) {
  auto* self = new Connection(core, std::move(peer));
  uv_tcp_init(core.uv(), &self->socket_);  // cannot fail: it makes no socket
  self->socket_.data = self;
  core.add(self);
  if (uv_tcp_open(&self->socket_, fd) != 0) {
    ::close(fd);
    self->close();
    return;
  }
  self->idle_since_ = self->last_read_ = self->now();
  self->steer_reading();
  if (!turn_away) return;
  self->survive([&] {
    self->refuse({503,
                  "too_many_connections",
                  "the server has too many open connections; try again later",
                  {{"Retry-After", "1"}}},
                 false);
  });
}

// Where memory runs out in the middle of a connection's work, that connection is given up and no
// other; libuv, which called, knows nothing of exceptions.
template <typename Work>
void Connection::survive(Work work) noexcept {
  try {
    work();
  } catch (const std::bad_alloc&) {
    ++core_.stats().out_of_memory;
    doomed_ = true;
    close();
  }
}

uint64_t Connection::now() const {
  return uv_now(core_.uv());
}

std::string_view Connection::date() const {
  return core_.date();
}

bool Connection::may_keep_alive() const {
  return !core_.draining();
}

void Connection::touch() {
  core_.mark_dirty(this);
}

// --- reading
// ---------------------------------------------------------------------------------------

void Connection::steer_reading() {
  const bool wanted = inbox_.size() < core_.options().pipeline_limit;
  if (closing_ || peer_ended_ || wanted == reading_) return;
  reading_ = wanted;
  auto* stream = reinterpret_cast<uv_stream_t*>(&socket_);
  if (!wanted) {
    uv_read_stop(stream);
    return;
  }
  uv_read_start(
      stream,
      [](uv_handle_t* handle, size_t, uv_buf_t* buffer) noexcept {
        // One buffer serves all connections: what is read is used up before the next read.
        *buffer = static_cast<Connection*>(handle->data)->core_.read_buffer();
      },
      [](uv_stream_t* handle, ssize_t size, const uv_buf_t* buffer) noexcept {
        auto* self = static_cast<Connection*>(handle->data);
        if (size < 0) return self->on_end(size == UV_EOF);
        if (size > 0)
          self->survive([=] { self->on_read({buffer->base, static_cast<size_t>(size)}); });
      });
}

void Connection::on_read(std::string_view data) {
  last_read_ = now();
  if (closing_ || lingering_ || close_after_write_)
    return;  // nothing more is wanted of this client
  if (inbox_.empty()) {
    inbox_.append(data.substr(parse(data)));
  } else {
    inbox_.append(data);
    inbox_.erase(0, parse(inbox_));
  }
  steer_reading();
}

void Connection::on_end(bool orderly) {
  // A client that asked, was answered and closed is not a lost one, though its answer may still
  // wait for the end of this round.
  if (!orderly || exchange_ != nullptr || lingering_ || buffered() == 0) {
    close();
    return;
  }
  peer_ended_ = true;
  close_after_write_ = true;
  touch();
}

// --- parsing
// ---------------------------------------------------------------------------------------

bool Connection::may_parse() const {
  // A client that sends requests and reads no responses must not pile them up here.
  return !closing_ && !doomed_ && exchange_ == nullptr && !close_after_write_ && !lingering_ &&
         outbox_.buffered() <= core_.options().write_buffer_limit;
}

size_t Connection::parse(std::string_view data) {
  size_t used = 0;
  while (used < data.size() && may_parse()) {
    size_t consumed = 0;
    const RequestParser::Progress progress = parser_.feed(data.substr(used), &consumed);
    count_body(parser_.request().body.size());
    if (too_many_bodies()) {
      ++core_.stats().refused_requests;
      refuse({503,
              "too_many_bodies",
              "the server holds as many bytes of requests as it may; try again later",
              {{"Retry-After", "1"}}},
             false);
      return data.size();
    }
    switch (progress) {
      case RequestParser::Progress::need_more:
        if (parser_.take_continue_wanted()) {
          output().append("HTTP/1.1 100 Continue\r\n\r\n");
          touch();
        }
        break;
      case RequestParser::Progress::complete:
        dispatch();
        break;
      case RequestParser::Progress::refused:
        ++core_.stats().refused_requests;
        refuse(parser_.refusal(), parser_.keep_alive());
        break;
      case RequestParser::Progress::failed:
        ++core_.stats().refused_requests;
        refuse(parser_.refusal(), false);
        return data.size();
    }
    used += consumed;
  }
  const auto note = [this](uint64_t& since, RequestParser::Phase phase) {
    if (parser_.phase() != phase) {
      since = 0;
    } else if (since == 0) {
      since = now();
    }
  };
  note(head_since_, RequestParser::Phase::head);
  note(body_since_, RequestParser::Phase::body);
  return close_after_write_ || closing_ ? data.size() : used;
}

void Connection::dispatch() {
  head_since_ = body_since_ = 0;  // the next request's may begin in this very round
  used_ = true;
  ++core_.stats().requests;
  std::string fields = cors_fields();
  Request request = parser_.take_request();
  request.peer = peer_;
  auto exchange = std::make_shared<Exchange>(Exchange::Passkey(), *this, std::move(request),
                                             parser_.keep_alive(), std::move(fields));
  exchange_ = exchange.get();
  ++core_.stats().requests_in_flight;
  std::string reason;
  try {
    core_.handler()(exchange);
    return;
  } catch (const std::exception& error) {
    reason = error.what();
  } catch (...) {
    reason = "an exception of unknown type";
  }
  ++core_.stats().handler_errors;
  core_.log("the handler of an HTTP request threw: " + reason);
  exchange->respond_error(500, "the server failed while handling this request", "internal_error");
  exchange->abort();  // does nothing unless a stream had begun
}

void Connection::refuse(const Refusal& refusal, bool keep_alive) {
  keep_alive = keep_alive && may_keep_alive();
  const Request& request = parser_.request();
  const std::string fields = cors_fields();
  ResponseHead head;
  head.date = date();
  head.connection = !keep_alive ? "close" : request.http_1_0 ? "keep-alive" : "";
  head.fields = fields;
  append_refusal(output(), refusal, head, request.method == "HEAD");
  head_since_ = body_since_ = 0;
  used_ = true;
  idle_since_ = now();
  parser_.forget();
  count_body(0);
  note_end();
  if (!keep_alive) close_after_write_ = true;
  touch();
}

// A length that is merely announced costs nothing and does not count: else it could keep all others
// out.
void Connection::count_body(size_t bytes) {
  core_.stats().body_bytes += bytes;
  core_.stats().body_bytes -= std::exchange(body_bytes_, bytes);
}

bool Connection::too_many_bodies() const {
  const ServerOptions& options = core_.options();
  return body_bytes_ > 0 &&
         core_.stats().body_bytes > std::max(options.bodies_limit, options.body_limit);
}

std::string Connection::cors_fields() const {
  std::string fields;
  core_.options().cors.append_fields(fields, parser_.request());
  return fields;
}

// --- writing
// ---------------------------------------------------------------------------------------

bool Connection::admit(size_t bytes) {
  if (doomed_) return false;
  if (buffered() + bytes <= core_.options().write_buffer_ceiling) return true;
  ++core_.stats().slow_readers;
  reset();
  return false;
}

Flow Connection::flow() {
  if (congested_since_ == 0 && buffered() > core_.options().write_buffer_limit) {
    congested_since_ = now();
  }
  return congested_since_ == 0 ? Flow::open : Flow::congested;
}

// A congested stream is so until its buffer has drained to half: a producer that pauses must be
// either resumed or, by check_time(), closed.
void Connection::relieve() {
  if (congested_since_ == 0 || buffered() > core_.options().write_buffer_limit / 2) return;
  congested_since_ = 0;
  if (exchange_ != nullptr) exchange_->writable();
}

void Connection::response_ended(bool keep_alive) {
  exchange_ = nullptr;
  count_body(0);
  --core_.stats().requests_in_flight;
  idle_since_ = now();
  congested_since_ = 0;
  note_end();
  if (!keep_alive || core_.draining()) close_after_write_ = true;
  touch();
}

// Further responses behind one that waits to be read give no more time.
void Connection::note_end() {
  if (ended_since_ != 0) return;
  ended_since_ = now();
  sent_at_end_ = outbox_.sent();
}

bool Connection::reads_too_slowly(uint64_t now) const {
  if (ended_since_ == 0) return false;
  const ServerOptions& options = core_.options();
  const uint64_t earned = (outbox_.sent() - sent_at_end_) * 1000 / options.write_rate;
  return now - ended_since_ >= static_cast<uint64_t>(options.write_stall_timeout.count()) + earned;
}

void Connection::response_aborted() {
  exchange_ = nullptr;
  count_body(0);
  --core_.stats().requests_in_flight;
  reset();
}

void Connection::out_of_memory() {
  ++core_.stats().out_of_memory;
  reset();
}

// Closing at once could call back into the code that is in the middle of a write, so it is put off
// to the end of the round.
void Connection::reset() {
  doomed_ = true;
  touch();
}

void Connection::serve() noexcept {
  survive([this] { serve_round(); });
}

void Connection::serve_round() {
  if (closing_) return;
  if (doomed_) {
    close();
    return;
  }
  if (!inbox_.empty()) {
    inbox_.erase(0, parse(inbox_));
    steer_reading();
  }
  if (closing_) return;
  const bool was_blocked = outbox_.blocked();
  if (outbox_.flush() < 0) {
    close();
    return;
  }
  // A reader can be slow only from the moment that something waits for it. Before, the time went to
  // the handler, and the loop's clock stood still.
  if (!was_blocked && outbox_.blocked()) {
    progress_since_ = now();
    if (congested_since_ != 0) congested_since_ = now();
    if (ended_since_ != 0) ended_since_ = now();
  }
  after_write();
}

void Connection::on_written(int status) noexcept {
  if (closing_) return;
  if (status < 0 || outbox_.flush() < 0) {
    close();
    return;
  }
  survive([this] { after_write(); });
}

void Connection::after_write() {
  if (buffered() == 0) ended_since_ = 0;
  if (buffered() == 0 && exchange_ == nullptr && close_after_write_) {
    linger();
    return;
  }
  if (!inbox_.empty() && may_parse()) touch();
  relieve();
}

// --- ending
// ----------------------------------------------------------------------------------------

// Closing a socket with unread input makes the kernel send a reset, which can destroy the response
// on its way. So the server says that it is done, and waits a moment for the client to close first.
void Connection::linger() {
  if (lingering_) return;
  if (peer_ended_) {
    close();
    return;
  }
  lingering_ = true;
  linger_since_ = now();
  inbox_ = std::string();
  if (uv_os_fd_t fd; uv_fileno(reinterpret_cast<uv_handle_t*>(&socket_), &fd) == 0) {
    ::shutdown(fd, SHUT_WR);
  }
  steer_reading();
}

void Connection::check_time(uint64_t now) noexcept {
  survive([this, now] { enforce_times(now); });
}

void Connection::enforce_times(uint64_t time) {
  const ServerOptions& options = core_.options();
  const auto passed = [time](uint64_t since, std::chrono::milliseconds limit) {
    return time >= since && time - since >= static_cast<uint64_t>(limit.count());
  };
  if (lingering_) {
    if (passed(linger_since_, options.linger_timeout)) close();
    return;
  }
  if (const uint64_t sent = outbox_.sent(); sent != sent_seen_) {
    sent_seen_ = sent;
    progress_since_ = time;
    relieve();
    if (closing_) return;
  }
  const bool stream_stalled =
      congested_since_ != 0 && passed(congested_since_, options.write_stall_timeout);
  const bool end_stalled =
      exchange_ == nullptr &&
      (passed(progress_since_, options.write_stall_timeout) || reads_too_slowly(time));
  if (outbox_.blocked() && (stream_stalled || end_stalled)) {
    ++core_.stats().slow_readers;
    doomed_ = true;
    close();
    return;
  }
  if (exchange_ != nullptr || close_after_write_ || buffered() > 0) return;

  switch (parser_.phase()) {
    case RequestParser::Phase::idle:
      if (passed(idle_since_, kBuffersKept)) {
        inbox_.shrink_to_fit();
        outbox_.shrink();
      }
      if (!passed(idle_since_, used_ ? options.idle_timeout : options.first_byte_timeout)) return;
      ++core_.stats().timeouts;
      close();
      return;
    case RequestParser::Phase::head:
      if (!passed(head_since_, options.header_timeout)) return;
      break;
    case RequestParser::Phase::body: {
      const std::chrono::milliseconds earned(parser_.body_received() * 1000 / options.body_rate);
      if (!passed(last_read_, options.body_timeout) &&
          !passed(body_since_, options.body_grace + earned)) {
        return;
      }
      break;
    }
  }
  ++core_.stats().timeouts;
  refuse({408, "request_timeout", "the request took too long to arrive", {}}, false);
}

bool Connection::is_idle() const {
  return exchange_ == nullptr && !lingering_ && !close_after_write_ && buffered() == 0 &&
         parser_.phase() == RequestParser::Phase::idle;
}

void Connection::drain() {
  if (exchange_ != nullptr || lingering_ || parser_.phase() != RequestParser::Phase::idle) return;
  if (buffered() == 0) {
    close();
  } else {
    close_after_write_ = true;
    touch();
  }
}

void Connection::close() {
  if (closing_) return;
  closing_ = true;
  count_body(0);
  core_.remove(this);
  const uv_close_cb closed = [](uv_handle_t* handle) noexcept {
    auto* self = static_cast<Connection*>(handle->data);
    ServerCore& core = self->core_;
    delete self;
    core.handle_closed();
  };
  // A reset for those who were cut off: it frees the kernel's buffers and shows the client a broken
  // response as one.
  if (!doomed_ || uv_tcp_close_reset(&socket_, closed) != 0) {
    uv_close(reinterpret_cast<uv_handle_t*>(&socket_), closed);
  }
  if (Exchange* lost = std::exchange(exchange_, nullptr)) {
    --core_.stats().requests_in_flight;
    ++core_.stats().disconnects;
    lost->connection_lost();
  }
}

}  // namespace halogen::http
