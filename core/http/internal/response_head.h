// Writes the head of a response: status line, headers, blank line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/http/exchange.h"

namespace halogen::http {

struct ResponseHead {
  enum class Framing { none, length, chunked, until_close };

  int status = 200;
  std::string_view content_type;
  std::string_view date;        // IMF-fixdate
  std::string_view connection;  // value of the Connection header; empty sends none
  Framing framing = Framing::none;
  size_t content_length = 0;
  const std::vector<Header>* headers = nullptr;
};

void append_response_head(std::string& out, const ResponseHead& head);

// A complete error response that asks the client to close; for when there is no exchange to answer.
void append_error_response(std::string& out, int status, std::string_view message,
                           std::string_view code, std::string_view date);

}  // namespace halogen::http
