#include "core/http/internal/request_parser.h"

#include <algorithm>
#include <utility>

#include "core/http/internal/target.h"

namespace halogen::http {

namespace {

constexpr size_t kMostDiscarded = 64 << 10;  // bytes of a refused request's body
constexpr size_t kMethodShown = 32;          // characters of an unknown method

// Whether a Host field can be one: RFC 9110 section 7.2. The characters of host and port.
bool is_host(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-._~%!$&'()*+,;=:[]").find(c) != std::string_view::npos;
  });
}

}  // namespace

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
      self.refusal_.status = 503;
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
      s.on_chunk_header = event<&RequestParser::on_chunk_header>;
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

RequestParser::RequestParser(const Limits& limits, const Gate& gate)
    : limits_(limits), gate_(gate) {
  llhttp_init(&parser_, HTTP_REQUEST, Callbacks::settings());
  parser_.data = this;
}

RequestParser::Progress RequestParser::feed(std::string_view input, size_t* consumed) {
  *consumed = input.size();
  std::string_view rest = input;
  llhttp_errno_t error = HPE_PAUSED;
  while (error == HPE_PAUSED) {
    if (const std::string_view fault = lines_.check(rest); !fault.empty()) {
      refuse_malformed(fault);
      return Progress::failed;
    }
    error = llhttp_execute(&parser_, rest.data(), rest.size());
    if (error != HPE_PAUSED) break;
    rest.remove_prefix(static_cast<size_t>(llhttp_get_error_pos(&parser_) - rest.data()));
    if (complete_) {
      *consumed = input.size() - rest.size();
      return discarding_ ? Progress::refused : Progress::complete;
    }
    lines_.expect_trailers();
    llhttp_resume(&parser_);
  }
  if (error == HPE_OK) return Progress::need_more;
  if (refusal_.status == 0) {
    explain(error, input);
  } else if (refusal_.message.empty()) {
    refuse(503, "out_of_memory", "the server has no memory for this request; try again later");
  }
  return Progress::failed;
}

Request RequestParser::take_request() {
  reset();
  return std::exchange(request_, Request());
}

void RequestParser::forget() {
  reset();
  request_ = Request();
  refusal_ = Refusal();
}

void RequestParser::reset() {
  complete_ = discarding_ = false;
  discarded_ = 0;
  lines_.expect_head();
  phase_ = Phase::idle;
  llhttp_resume(&parser_);
}

bool RequestParser::take_continue_wanted() {
  return std::exchange(continue_wanted_, false);
}

int RequestParser::refuse(int status, std::string_view code, std::string message) {
  refusal_ = {status, std::string(code), std::move(message), {}};
  return HPE_USER;
}

int RequestParser::refuse_malformed(std::string_view reason) {
  return refuse(400, "malformed_request",
                "the request is not valid HTTP/1.1: " + std::string(reason));
}

void RequestParser::explain(llhttp_errno_t error, std::string_view input) {
  constexpr std::string_view kTlsHandshake("\x16\x03", 2);
  if (error == HPE_INVALID_VERSION || error == HPE_PAUSED_H2_UPGRADE) {
    refuse(505, "http_version_not_supported", "this server speaks HTTP/1.1; use that version");
  } else if (error == HPE_INVALID_METHOD && input.starts_with(kTlsHandshake)) {
    refuse_malformed("it begins like TLS, and this port speaks plain HTTP; use http://");
  } else if (error == HPE_INVALID_METHOD &&
             input.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ-") == input.find(' ')) {
    refuse(501, "method_not_supported",
           "the method " + std::string(input.substr(0, std::min(input.find(' '), kMethodShown))) +
               " is not known here");
  } else {
    const char* reason = llhttp_get_error_reason(&parser_);
    refuse_malformed(reason != nullptr && *reason != '\0' ? reason : llhttp_errno_name(error));
  }
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
  head_bytes_ = fields_ = 0;
  name_complete_ = true;
  continue_wanted_ = false;
  return 0;
}

int RequestParser::on_target(std::string_view piece) {
  request_.method = llhttp_method_name(static_cast<llhttp_method_t>(parser_.method));
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
  if (opens) name_size_ = 0;
  name_size_ += piece.size();
  if (piece.find(' ') != std::string_view::npos) {
    return refuse_malformed("there is a blank in the name of a header field");
  }
  if (opens && ++fields_ > limits_.fields) {
    return refuse(431, "too_many_headers",
                  "the request has more than " + std::to_string(limits_.fields) +
                      " header fields; send fewer");
  }
  if (phase_ == Phase::body) return 0;  // trailers are counted and dropped
  if (opens) request_.headers.open_field();
  request_.headers.extend_name(piece);
  return 0;
}

int RequestParser::on_header_name_complete() {
  if (std::exchange(name_size_, 0) == 0) return refuse_malformed("a header field has no name");
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
  fields_ = 0;
  request_.http_1_0 = parser_.http_major == 1 && parser_.http_minor == 0;
  keep_alive_ = llhttp_should_keep_alive(&parser_) != 0;
  if (int rc = check_framing(); rc != 0) return rc;
  check_head();
  if (refusal_.status != 0) return discard_body();

  continue_wanted_ = expects() && has_body();
  if (has_length()) {
    // Memory is taken as the body arrives: a length alone, which costs a client nothing, takes
    // little.
    constexpr uint64_t kTrustedLength = 64 << 10;
    request_.body.reserve(std::min<uint64_t>(parser_.content_length, kTrustedLength));
  }
  return 0;
}

// What makes it uncertain where the request ends: after these, the connection cannot go on.
int RequestParser::check_framing() {
  const HeaderMap& headers = request_.headers;
  if (parser_.http_major != 1) {
    return refuse(505, "http_version_not_supported",
                  "this server speaks HTTP/1.1; use that version");
  }
  if (parser_.method == HTTP_CONNECT) {
    return refuse(501, "method_not_supported", "CONNECT is not supported: this is not a proxy");
  }
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
  // An offer to change protocols may be ignored (RFC 9110 section 7.8), and is: left alone, llhttp
  // would stop at the end of the request.
  parser_.upgrade = 0;
  return 0;
}

// What is wrong with this request alone.
void RequestParser::check_head() {
  const HeaderMap& headers = request_.headers;
  if (!split_target(request_)) {
    refuse(400, "invalid_url", "the request's URL has no valid path; check its percent escapes");
    return;
  }
  const size_t hosts = headers.count("Host");
  if (hosts > 1 || (hosts == 0 && !request_.http_1_0)) {
    refuse(400, "invalid_host", "an HTTP/1.1 request needs exactly one Host header");
    return;
  }
  if (!is_host(headers.get("Host"))) {
    refuse(400, "invalid_host", "the Host header names no host; it is a name or an address");
    return;
  }
  if (expects() && !equals_ignoring_case(headers.get("Expect"), "100-continue")) {
    refuse(417, "expectation_failed", "the only expectation supported is 100-continue");
    return;
  }
  if (has_length() && parser_.content_length > limits_.body) {
    refuse(413, "body_too_large",
           "the request's body of " + std::to_string(parser_.content_length) +
               " bytes exceeds the limit of " + std::to_string(limits_.body));
    return;
  }
  if (!gate_) return;
  if (std::optional<Refusal> refused = gate_(request_)) refusal_ = std::move(*refused);
}

// HTTP/1.0 has no expectations (RFC 9110 section 10.1.1).
bool RequestParser::expects() const {
  return !request_.http_1_0 && request_.headers.contains("Expect");
}

// A small body is read to its end, so that the connection can go on behind it. A client that waits
// to be invited may or may not send its body after a refusal, and a large one is not worth it:
// those connections end.
int RequestParser::discard_body() {
  if (has_body() && (expects() || (has_length() && parser_.content_length > kMostDiscarded))) {
    return HPE_USER;
  }
  discarding_ = true;
  return 0;
}

// llhttp leaves the chunk's size in content_length. The last chunk has none: parsing pauses there,
// since feed() has to know where the trailers begin.
int RequestParser::on_chunk_header() {
  continue_wanted_ = false;  // the client did not wait
  if (parser_.content_length == 0) return HPE_PAUSED;
  const size_t most = discarding_ ? kMostDiscarded : limits_.body;
  if (parser_.content_length <= most - body_received()) return 0;
  if (discarding_) return HPE_USER;
  return refuse(
      413, "body_too_large",
      "the request's body exceeds the limit of " + std::to_string(limits_.body) + " bytes");
}

// The limits were checked with the lengths.
int RequestParser::on_body(std::string_view piece) {
  continue_wanted_ = false;
  if (discarding_) {
    discarded_ += piece.size();
  } else {
    request_.body.append(piece);
  }
  return 0;
}

int RequestParser::on_complete() {
  complete_ = true;
  return HPE_PAUSED;
}

}  // namespace halogen::http
