#include "core/http/internal/request_parser.h"

#include <algorithm>
#include <utility>

#include "core/http/internal/target.h"

namespace halogen::http {

// llhttp's C callbacks, forwarded to members. An exception (there is no memory for a body, say)
// must not unwind through C, so it becomes a refusal.
struct RequestParser::Callbacks {
  template <int (RequestParser::*member)(std::string_view)>
  static int data(llhttp_t* parser, const char* at, size_t size) noexcept {
    return guard(parser, [&](RequestParser& self) { return (self.*member)({at, size}); });
  }

  template <int (RequestParser::*member)()>
  static int event(llhttp_t* parser) noexcept {
    return guard(parser, [&](RequestParser& self) { return (self.*member)(); });
  }

  template <typename Function>
  static int guard(llhttp_t* parser, Function function) noexcept {
    auto& self = *static_cast<RequestParser*>(parser->data);
    try {
      return function(self);
    } catch (...) {
      self.failure_.status = 503;
      return HPE_USER;
    }
  }

  static const llhttp_settings_t* settings() {
    static const llhttp_settings_t table = [] {
      llhttp_settings_t s;
      llhttp_settings_init(&s);
      s.on_message_begin = event<&RequestParser::on_begin>;
      s.on_url = data<&RequestParser::on_target>;
      s.on_header_field = data<&RequestParser::on_header_name>;
      s.on_header_field_complete = event<&RequestParser::on_header_name_complete>;
      s.on_header_value = data<&RequestParser::on_header_value>;
      s.on_chunk_extension_name = data<&RequestParser::on_chunk_extension>;
      s.on_chunk_extension_value = data<&RequestParser::on_chunk_extension>;
      s.on_headers_complete = event<&RequestParser::on_headers_complete>;
      s.on_body = data<&RequestParser::on_body>;
      s.on_message_complete = event<&RequestParser::on_complete>;
      return s;
    }();
    return &table;
  }
};

RequestParser::RequestParser(const Limits& limits) : limits_(limits) {
  llhttp_init(&parser_, HTTP_REQUEST, Callbacks::settings());
  parser_.data = this;
}

RequestParser::Progress RequestParser::feed(std::string_view input, size_t* consumed) {
  const llhttp_errno_t error = llhttp_execute(&parser_, input.data(), input.size());
  if (error == HPE_OK) {
    *consumed = input.size();
    return Progress::need_more;
  }
  if (error == HPE_PAUSED && complete_) {
    *consumed = static_cast<size_t>(llhttp_get_error_pos(&parser_) - input.data());
    return Progress::complete;
  }
  *consumed = input.size();
  if (failure_.status == 0) {
    if (error == HPE_INVALID_VERSION || error == HPE_PAUSED_H2_UPGRADE) {
      refuse(505, "http_version_not_supported", "this server speaks HTTP/1.1; use that version");
    } else {
      const char* reason = llhttp_get_error_reason(&parser_);
      refuse(400, "malformed_request",
             std::string("the request is not valid HTTP/1.1: ") +
                 (reason != nullptr && *reason != '\0' ? reason : llhttp_errno_name(error)));
    }
  } else if (failure_.message.empty()) {
    refuse(503, "out_of_memory", "the server has no memory for this request; try again later");
  }
  return Progress::failed;
}

Request RequestParser::take_request() {
  complete_ = false;
  phase_ = Phase::idle;
  llhttp_resume(&parser_);
  return std::exchange(request_, Request());
}

bool RequestParser::take_continue_wanted() {
  return std::exchange(continue_wanted_, false);
}

int RequestParser::refuse(int status, std::string_view code, std::string message) {
  failure_ = {status, std::string(code), std::move(message)};
  return HPE_USER;
}

int RequestParser::count_head(size_t bytes) {
  head_bytes_ += bytes;
  if (head_bytes_ <= limits_.head) return 0;
  return refuse(431, "headers_too_large",
                "the request's headers exceed " + std::to_string(limits_.head) +
                    " bytes; send fewer or shorter ones");
}

int RequestParser::on_begin() {
  phase_ = Phase::head;
  head_bytes_ = 0;
  name_complete_ = true;
  continue_wanted_ = false;
  return 0;
}

int RequestParser::on_target(std::string_view piece) {
  if (request_.target.size() + piece.size() > limits_.target) {
    return refuse(
        414, "uri_too_long",
        "the request's URL exceeds " + std::to_string(limits_.target) + " bytes; shorten it");
  }
  request_.target.append(piece);
  return count_head(piece.size());
}

int RequestParser::on_header_name(std::string_view piece) {
  // Each field counts four bytes more than its text (": " and the line end), so that many empty
  // fields are bounded too.
  const bool opens = std::exchange(name_complete_, false);
  if (int rc = count_head(piece.size() + (opens ? 4 : 0)); rc != 0) return rc;
  if (phase_ == Phase::body) return 0;  // trailers are counted and dropped
  if (opens) request_.headers.open_field();
  request_.headers.extend_name(piece);
  return 0;
}

int RequestParser::on_header_name_complete() {
  name_complete_ = true;
  return 0;
}

int RequestParser::on_header_value(std::string_view piece) {
  if (int rc = count_head(piece.size()); rc != 0) return rc;
  if (phase_ != Phase::body) request_.headers.extend_value(piece);
  return 0;
}

int RequestParser::on_chunk_extension(std::string_view piece) {
  return count_head(piece.size() + 1);
}

int RequestParser::on_headers_complete() {
  phase_ = Phase::body;
  request_.method = llhttp_method_name(static_cast<llhttp_method_t>(parser_.method));
  request_.http_1_0 = parser_.http_major == 1 && parser_.http_minor == 0;
  keep_alive_ = llhttp_should_keep_alive(&parser_) != 0;

  if (parser_.http_major != 1) {
    return refuse(505, "http_version_not_supported",
                  "this server speaks HTTP/1.1; use that version");
  }
  if (parser_.method == HTTP_CONNECT) {
    return refuse(501, "method_not_supported", "CONNECT is not supported: this is not a proxy");
  }
  if (!split_target(request_)) {
    return refuse(400, "invalid_url",
                  "the request's URL has no valid path; check its percent escapes");
  }
  const size_t hosts = request_.headers.count("Host");
  if (hosts > 1 || (hosts == 0 && !request_.http_1_0)) {
    return refuse(400, "invalid_host", "an HTTP/1.1 request needs exactly one Host header");
  }
  // An offer to change protocols may be ignored (RFC 9110 section 7.8), and is: left alone, llhttp
  // would stop at the end of the request.
  parser_.upgrade = 0;
  return check_framing();
}

int RequestParser::check_framing() {
  const HeaderMap& headers = request_.headers;
  if (headers.contains("Transfer-Encoding")) {
    if (request_.http_1_0) {
      return refuse(400, "invalid_transfer_encoding", "HTTP/1.0 has no Transfer-Encoding");
    }
    if (headers.count("Transfer-Encoding") != 1 ||
        !equals_ignoring_case(headers.get("Transfer-Encoding"), "chunked")) {
      return refuse(501, "unsupported_transfer_encoding",
                    "the only Transfer-Encoding supported is chunked; send the body plain");
    }
  }
  const bool has_length = (parser_.flags & F_CONTENT_LENGTH) != 0;
  if (has_length && parser_.content_length > limits_.body) {
    return refuse(413, "body_too_large",
                  "the request's body of " + std::to_string(parser_.content_length) +
                      " bytes exceeds the limit of " + std::to_string(limits_.body));
  }
  if (headers.contains("Expect")) {
    if (!equals_ignoring_case(headers.get("Expect"), "100-continue")) {
      return refuse(417, "expectation_failed", "the only expectation supported is 100-continue");
    }
    continue_wanted_ = !request_.http_1_0 && ((parser_.flags & F_CHUNKED) != 0 ||
                                              (has_length && parser_.content_length > 0));
  }
  if (has_length) {
    // Memory is taken as the body arrives: a length alone, which costs a client nothing, takes
    // little.
    constexpr uint64_t kTrustedLength = 64 << 10;
    request_.body.reserve(std::min<uint64_t>(parser_.content_length, kTrustedLength));
  }
  return 0;
}

int RequestParser::on_body(std::string_view piece) {
  continue_wanted_ = false;  // the client did not wait
  if (request_.body.size() + piece.size() > limits_.body) {
    return refuse(
        413, "body_too_large",
        "the request's body exceeds the limit of " + std::to_string(limits_.body) + " bytes");
  }
  request_.body.append(piece);
  return 0;
}

int RequestParser::on_complete() {
  complete_ = true;
  return HPE_PAUSED;
}

}  // namespace halogen::http
