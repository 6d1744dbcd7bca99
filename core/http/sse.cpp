#include "core/http/sse.h"

namespace halogen::http {

namespace {

void append_data(std::string& out, std::string_view data) {
  for (;;) {
    const size_t end = data.find_first_of("\r\n");
    out.append("data: ").append(data.substr(0, end)).push_back('\n');
    if (end == std::string_view::npos) break;
    data.remove_prefix(data.substr(end).starts_with("\r\n") ? end + 2 : end + 1);
  }
  out.push_back('\n');
}

}  // namespace

std::string sse_event(std::string_view data) {
  std::string out;
  out.reserve(data.size() + 8);
  append_data(out, data);
  return out;
}

std::string sse_event(std::string_view name, std::string_view data) {
  std::string out;
  out.reserve(name.size() + data.size() + 16);
  out.append("event: ").append(name).push_back('\n');
  append_data(out, data);
  return out;
}

}  // namespace halogen::http
