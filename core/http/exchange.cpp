#include "core/http/exchange.h"

#include <array>
#include <charconv>
#include <new>
#include <utility>

#include "core/http/error_body.h"
#include "core/http/internal/connection.h"
#include "core/http/internal/response_head.h"

namespace halogen::http {

Exchange::Exchange(Passkey, Connection& connection, Request request, bool keep_alive,
                   std::string fields)
    : connection_(&connection),
      request_(std::move(request)),
      fields_(std::move(fields)),
      keep_alive_(keep_alive),
      head_only_(request_.method == "HEAD"),
      http_1_0_(request_.http_1_0) {}

Exchange::~Exchange() {
  if (connection_ == nullptr) return;
  if (state_ == State::waiting) {
    respond_error(500, "the server dropped this request without an answer; this is a bug", "");
  }
  abort();
}

template <typename Work>
void Exchange::attempt(Work work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    if (connection_ != nullptr) connection_->out_of_memory();
  }
}

bool Exchange::begin(int status, std::string_view content_type, const std::vector<Header>& headers,
                     std::optional<size_t> content_length) {
  if (connection_ == nullptr || state_ != State::waiting) return false;
  state_ = State::streaming;
  const bool status_has_body = status != 204 && status != 304;
  body_allowed_ = status_has_body && !head_only_;
  ResponseHead head;
  head.status = status;
  head.content_type = content_type;
  head.headers = &headers;
  head.fields = fields_;
  head.date = connection_->date();
  if (status_has_body) {
    if (content_length) {
      head.framing = ResponseHead::Framing::length;
      head.content_length = *content_length;
    } else if (http_1_0_) {
      head.framing = ResponseHead::Framing::until_close;
      keep_alive_ = false;
    } else {
      head.framing = ResponseHead::Framing::chunked;
      chunked_ = body_allowed_;
    }
  }
  keep_alive_ = keep_alive_ && connection_->may_keep_alive();
  head.connection = !keep_alive_ ? "close" : http_1_0_ ? "keep-alive" : "";
  append_response_head(connection_->output(), head);
  connection_->touch();
  return true;
}

void Exchange::respond(int status, std::string_view content_type, std::string_view body,
                       const std::vector<Header>& headers) {
  attempt([&] {
    if (!begin(status, content_type, headers, body.size())) return;
    if (body_allowed_) connection_->output().append(body);
    finish();
  });
}

void Exchange::respond_error(int status, std::string_view message, std::string_view code,
                             const std::vector<Header>& headers) {
  attempt([&] {
    respond(status, "application/json", error_body(message, error_type(status), code), headers);
  });
}

void Exchange::begin_stream(int status, std::string_view content_type,
                            const std::vector<Header>& headers) {
  attempt([&] { begin(status, content_type, headers, std::nullopt); });
}

Flow Exchange::write(std::string_view data) {
  if (connection_ == nullptr || state_ != State::streaming) return Flow::closed;
  if (data.empty() || !body_allowed_)
    return connection_->flow();  // an empty chunk would end the body
  if (!connection_->admit(data.size())) return Flow::closed;
  Flow flow = Flow::closed;
  attempt([&] {
    std::string& out = connection_->output();
    if (chunked_) {
      std::array<char, 16> digits;
      char* end = std::to_chars(digits.begin(), digits.end(), data.size(), 16).ptr;
      out.append(digits.begin(), end).append("\r\n").append(data).append("\r\n");
    } else {
      out.append(data);
    }
    connection_->touch();
    flow = connection_->flow();
  });
  return flow;
}

void Exchange::end() {
  if (connection_ == nullptr || state_ != State::streaming) return;
  attempt([&] {
    if (chunked_) connection_->output().append("0\r\n\r\n");
    finish();
  });
}

void Exchange::finish() {
  state_ = State::ended;
  std::exchange(connection_, nullptr)->response_ended(keep_alive_);
  on_close_ = nullptr;
  on_writable_ = nullptr;
}

void Exchange::abort() {
  if (connection_ == nullptr) return;
  state_ = State::ended;
  std::exchange(connection_, nullptr)->response_aborted();
  on_close_ = nullptr;
  on_writable_ = nullptr;
}

void Exchange::set_on_close(std::function<void()> callback) {
  if (connection_ != nullptr) {
    on_close_ = std::move(callback);
  } else if (std::exchange(lost_, false) && callback) {
    callback();
  }
}

void Exchange::set_on_writable(std::function<void()> callback) {
  if (connection_ != nullptr) on_writable_ = std::move(callback);
}

size_t Exchange::buffered() const {
  return connection_ == nullptr ? 0 : connection_->buffered();
}

void Exchange::connection_lost() {
  connection_ = nullptr;
  state_ = State::ended;
  on_writable_ = nullptr;
  if (auto callback = std::exchange(on_close_, nullptr)) {
    callback();
  } else {
    lost_ = true;
  }
}

void Exchange::writable() {
  // A copy, since the callback may end the exchange, which drops the member.
  if (auto callback = on_writable_) callback();
}

}  // namespace halogen::http
