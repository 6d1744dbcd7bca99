// Bytes in, complete requests out: llhttp with limits, one request at a time. The parser stops
// after each request, so that the connection decides when the next one may begin. Source: RFC 9112
// (HTTP/1.1), RFC 9110 (semantics).
#pragma once

#include <string>
#include <string_view>

#include <llhttp.h>

#include "core/http/request.h"

namespace halogen::http {

// How to refuse a request that cannot be served; the connection answers and closes.
struct ParseFailure {
  int status = 0;
  std::string code;
  std::string message;
};

class RequestParser {
 public:
  struct Limits {
    size_t head;    // bytes of request line, headers and trailers
    size_t target;  // bytes of the request target
    size_t body;    // bytes of the body, without the chunked coding
  };
  enum class Progress { need_more, complete, failed };
  enum class Phase { idle, head, body };

  explicit RequestParser(const Limits& limits);
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  // Parses a prefix of `input` and sets *consumed to its length. After `complete`, take_request()
  // comes before the next feed(); after `failed`, there is no next.
  Progress feed(std::string_view input, size_t* consumed);

  Request take_request();

  // Whether the connection may go on after the request that was just completed.
  bool keep_alive() const { return keep_alive_; }

  // True once for each request that waits for "100 Continue" before it sends its body.
  bool take_continue_wanted();

  // idle: between requests; head: request line or headers; body: all that follows.
  Phase phase() const { return phase_; }

  const ParseFailure& failure() const { return failure_; }

 private:
  struct Callbacks;

  int on_begin();
  int on_target(std::string_view piece);
  int on_header_name(std::string_view piece);
  int on_header_name_complete();
  int on_header_value(std::string_view piece);
  int on_chunk_extension(std::string_view piece);
  int on_headers_complete();
  int on_body(std::string_view piece);
  int on_complete();

  int refuse(int status, std::string_view code, std::string message);
  int count_head(size_t bytes);
  int check_framing();

  llhttp_t parser_{};
  const Limits limits_;
  Phase phase_ = Phase::idle;
  Request request_;
  ParseFailure failure_;
  size_t head_bytes_ = 0;
  bool name_complete_ = true;  // so the next piece of a name opens a field
  bool keep_alive_ = false;
  bool continue_wanted_ = false;
  bool complete_ = false;
};

}  // namespace halogen::http
