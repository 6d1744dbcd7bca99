// Bytes in, complete requests out: llhttp with limits, one request at a time. The parser stops
// after each request, so that the connection decides when the next one may begin. Source: RFC 9112
// (HTTP/1.1), RFC 9110 (semantics).
#pragma once

#include <string>
#include <string_view>

#include <llhttp.h>

#include "core/http/internal/head_lines.h"
#include "core/http/refusal.h"
#include "core/http/request.h"

namespace halogen::http {

class RequestParser {
 public:
  struct Limits {
    size_t head;    // bytes of request line, headers and trailers
    size_t fields;  // of the headers, and as many of the trailers
    size_t target;  // bytes of the request target
    size_t body;    // bytes of the body, without the chunked coding
  };
  enum class Progress {
    need_more,
    complete,  // take_request() has it
    refused,   // refusal() says why; the request has been read to its end, forget() comes next
    failed     // refusal() says why; where the next request begins is unknown
  };
  enum class Phase { idle, head, body };

  // `gate` may be empty; it outlives the parser.
  RequestParser(const Limits& limits, const Gate& gate);
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  // Parses a prefix of `input` and sets *consumed to its length. After `complete` or `refused`,
  // take_request() or forget() comes before the next feed(); after `failed`, there is no next.
  Progress feed(std::string_view input, size_t* consumed);

  Request take_request();
  void forget();

  const Refusal& refusal() const { return refusal_; }

  // As much of the request as has arrived, until it is taken or forgotten.
  const Request& request() const { return request_; }

  // Bytes of the body that have arrived.
  size_t body_received() const { return discarding_ ? discarded_ : request_.body.size(); }

  // Whether the connection may go on after the request that was just completed.
  bool keep_alive() const { return keep_alive_; }

  // True once for each request that waits for "100 Continue" before it sends its body.
  bool take_continue_wanted();

  // idle: between requests; head: request line or headers; body: all that follows.
  Phase phase() const { return phase_; }

 private:
  struct Callbacks;

  int on_begin();
  int on_target(std::string_view piece);
  int on_header_name(std::string_view piece);
  int on_header_name_complete();
  int on_header_value(std::string_view piece);
  int on_chunk_extension(std::string_view piece);
  int on_headers_complete();
  int on_chunk_header();
  int on_body(std::string_view piece);
  int on_complete();

  int refuse(int status, std::string_view code, std::string message);
  int refuse_malformed(std::string_view reason);
  void explain(llhttp_errno_t error, std::string_view input);
  int count_head(size_t bytes);
  int check_framing();
  void check_head();
  int discard_body();
  bool has_length() const { return (parser_.flags & F_CONTENT_LENGTH) != 0; }
  bool has_body() const {
    return (parser_.flags & F_CHUNKED) != 0 || (has_length() && parser_.content_length > 0);
  }
  bool expects() const;
  void reset();

  llhttp_t parser_{};
  const Limits limits_;
  const Gate& gate_;
  Phase phase_ = Phase::idle;
  Request request_;
  Refusal refusal_;  // its status is 0 while there is none
  HeadLines lines_;
  size_t head_bytes_ = 0;
  size_t fields_ = 0;
  size_t discarded_ = 0;
  size_t name_size_ = 0;
  bool name_complete_ = true;  // so the next piece of a name opens a field
  bool keep_alive_ = false;
  bool continue_wanted_ = false;
  bool complete_ = false;
  bool discarding_ = false;  // refused already: the body is read and forgotten
};

}  // namespace halogen::http
