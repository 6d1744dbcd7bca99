// Server-sent events as OpenAI's streaming endpoints send them. The functions only format; the
// result goes to Exchange::write(). Source: the HTML standard, "Server-sent events".
#pragma once

#include <string>
#include <string_view>

namespace halogen::http {

inline constexpr std::string_view kEventStream = "text/event-stream";

// One event: "data: …\n\n". A line break inside `data` (\n, \r\n or \r) starts another data line of
// the same event, which the client joins with \n.
std::string sse_event(std::string_view data);

// An event with a name ("event: …\ndata: …\n\n"). `name` has no line breaks.
std::string sse_event(std::string_view name, std::string_view data);

// What ends an OpenAI stream.
inline constexpr std::string_view kSseDone = "data: [DONE]\n\n";

// A comment, which clients ignore; it keeps proxies from cutting a quiet connection.
inline constexpr std::string_view kSseHeartbeat = ": keep-alive\n\n";

}  // namespace halogen::http
