// Writes the head of a response: status line, headers, blank line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/http/header.h"
#include "core/http/refusal.h"

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
  std::string_view fields;  // further header fields, each with its line end
};

void append_response_head(std::string& out, const ResponseHead& head);

// A complete response for a refused request, for when there is no exchange to answer. Of `head`,
// date, connection and fields are used.
void append_refusal(std::string& out, const Refusal& refusal, ResponseHead head, bool head_only);

}  // namespace halogen::http
