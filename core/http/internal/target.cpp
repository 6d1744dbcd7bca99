#include "core/http/internal/target.h"

#include <algorithm>

namespace halogen::http {

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The byte that "%XX" at text[i] stands for, or -1.
int escaped_byte(std::string_view text, size_t i) {
  if (i + 2 >= text.size()) return -1;
  const int high = hex_digit(text[i + 1]);
  const int low = hex_digit(text[i + 2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

bool decode_path(std::string_view text, std::string& out) {
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    const int byte = escaped_byte(text, i);
    if (byte <= 0) return false;
    out.push_back(static_cast<char>(byte));
    i += 2;
  }
  return true;
}

// Forms are lenient: a percent sign that starts no escape stands for itself.
std::string decode_form(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const int byte = text[i] == '%' ? escaped_byte(text, i) : -1;
    if (byte >= 0) {
      out.push_back(static_cast<char>(byte));
      i += 2;
    } else {
      out.push_back(text[i] == '+' ? ' ' : text[i]);
    }
  }
  return out;
}

void split_query(std::string_view text, std::vector<QueryParameter>& query) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    const size_t equals = std::min(pair.find('='), pair.size());
    if (!pair.empty()) {
      query.push_back({decode_form(pair.substr(0, equals)),
                       decode_form(pair.substr(std::min(equals + 1, pair.size())))});
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

bool split_target(Request& request) {
  std::string_view rest = request.target;
  if (rest == "*") {
    request.path = "*";
    return true;
  }
  if (const size_t scheme = rest.find("://"); !rest.starts_with('/')) {
    if (scheme == std::string_view::npos) return false;
    rest.remove_prefix(scheme + 3);
    rest.remove_prefix(std::min(rest.find_first_of("/?#"), rest.size()));
  }
  rest = rest.substr(0, rest.find('#'));
  const size_t question = std::min(rest.find('?'), rest.size());
  if (!decode_path(rest.substr(0, question), request.path)) return false;
  if (request.path.empty()) request.path = "/";
  split_query(rest.substr(std::min(question + 1, rest.size())), request.query);
  return true;
}

}  // namespace halogen::http
