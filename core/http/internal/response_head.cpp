#include "core/http/internal/response_head.h"

#include "core/http/error_body.h"

namespace halogen::http {

namespace {

// clang-format off
// Clients go by the number; the phrase only helps a person reading the wire (RFC 9110 section 15).
std::string_view reason_phrase(int status) {
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    default: return "Status";
  }
}
// clang-format on

void append_clean(std::string& out, std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out.push_back(byte < 0x20 || byte == 0x7f ? ' ' : c);
  }
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  append_clean(out, name);
  out.append(": ");
  append_clean(out, value);
  out.append("\r\n");
}

}  // namespace

void append_response_head(std::string& out, const ResponseHead& head) {
  out.append("HTTP/1.1 ").append(std::to_string(head.status)).push_back(' ');
  out.append(reason_phrase(head.status)).append("\r\n");
  out.append("Date: ").append(head.date).append("\r\n");
  if (!head.content_type.empty()) append_field(out, "Content-Type", head.content_type);
  if (head.framing == ResponseHead::Framing::length) {
    out.append("Content-Length: ").append(std::to_string(head.content_length)).append("\r\n");
  } else if (head.framing == ResponseHead::Framing::chunked) {
    out.append("Transfer-Encoding: chunked\r\n");
  }
  if (!head.connection.empty()) append_field(out, "Connection", head.connection);
  if (head.headers != nullptr) {
    for (const Header& header : *head.headers) append_field(out, header.name, header.value);
  }
  out.append(head.fields);
  out.append("\r\n");
}

void append_refusal(std::string& out, const Refusal& refusal, ResponseHead head, bool head_only) {
  const std::string body = error_body(refusal.message, error_type(refusal.status), refusal.code);
  head.status = refusal.status;
  head.content_type = "application/json";
  head.headers = &refusal.headers;
  head.framing = ResponseHead::Framing::length;
  head.content_length = body.size();
  append_response_head(out, head);
  if (!head_only) out.append(body);
}

}  // namespace halogen::http
