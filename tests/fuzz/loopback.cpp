#include "tests/fuzz/loopback.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <sys/socket.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

namespace halogen::fuzz {
namespace {

// Two rounds without a byte: everything the handlers posted has had its turn.
constexpr int kQuietRounds = 3;

// The value of a header of `head`, whose names the server writes in one way only.
std::string_view header(std::string_view head, std::string_view name) {
  const std::string start = "\r\n" + std::string(name) + ": ";
  const size_t at = head.find(start);
  if (at == std::string_view::npos) return {};
  const std::string_view value = head.substr(at + start.size());
  return value.substr(0, value.find("\r\n"));
}

size_t number(std::string_view digits, int base) {
  size_t value = 0;
  const auto [end, problem] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  require(problem == std::errc() && end == digits.data() + digits.size(), "a length is a number",
          digits);
  return value;
}

std::string take_chunks(std::string_view& wire, bool& whole) {
  std::string body;
  while (true) {
    const size_t line = wire.find("\r\n");
    if (line == std::string_view::npos) break;
    const size_t size = number(wire.substr(0, line), 16);
    if (wire.size() < line + 2 + size + 2) break;
    require(wire.substr(line + 2 + size, 2) == "\r\n", "a chunk ends with its line");
    body += wire.substr(line + 2, size);
    wire.remove_prefix(line + 2 + size + 2);
    if (size == 0) return body;
  }
  whole = false;
  wire = {};
  return body;
}

}  // namespace

Loopback::Loopback(http::Handler handler, http::ServerOptions options)
    : loop_(std::move(*Loop::create())),
      core_(new http::ServerCore(*loop_, std::move(options), std::move(handler))) {}

Loopback::~Loopback() {
  core_->shut_down();
  round();
}

void Loopback::round() {
  loop_->stop();  // at the end of the round
  loop_->run();
}

std::string Loopback::talk(const std::vector<std::string_view>& pieces) {
  std::array<int, 2> ends{};
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0,
          "a socket pair can be made");
  const int client = ends[0];
  core_->accepted(ends[1], "client");
  std::string received;
  bool open = true;
  const auto receive = [&] {
    bool any = false;
    std::array<char, 65536> buffer;
    ssize_t size = 0;
    while (open && (size = ::recv(client, buffer.data(), buffer.size(), 0)) > 0) {
      received.append(buffer.data(), static_cast<size_t>(size));
      any = true;
    }
    if (size == 0 || (size < 0 && errno != EAGAIN)) open = false;
    return any;
  };
  for (std::string_view piece : pieces) {
    while (open && !piece.empty()) {
      const ssize_t sent = ::send(client, piece.data(), piece.size(), MSG_NOSIGNAL);
      if (sent > 0) piece.remove_prefix(static_cast<size_t>(sent));
      if (sent < 0 && errno != EAGAIN) break;
      round();
      receive();
    }
  }
  for (int quiet = 0; open && quiet < kQuietRounds; quiet++) {
    round();
    if (receive()) quiet = -1;
  }
  ::close(client);
  while (core_->stats_now().connections > 0) round();
  return received;
}

Answer take_answer(std::string_view& wire, bool head_only, bool& whole) {
  const size_t end = wire.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    whole = false;
    wire = {};
    return {};
  }
  Answer answer;
  answer.head = wire.substr(0, end);
  wire.remove_prefix(end + 4);
  const std::string_view head = answer.head;
  require(head.starts_with("HTTP/1.1 ") && head.size() > 13, "an answer has a status line", head);
  answer.status = static_cast<int>(number(head.substr(9, 3), 10));
  const bool bodiless =
      head_only || answer.status < 200 || answer.status == 204 || answer.status == 304;
  if (bodiless) return answer;
  if (const auto length = header(head, "Content-Length"); !length.empty()) {
    const size_t size = number(length, 10);
    if (size > wire.size()) whole = false;
    answer.body = wire.substr(0, size);
    wire.remove_prefix(std::min(size, wire.size()));
  } else if (header(head, "Transfer-Encoding") == "chunked") {
    answer.body = take_chunks(wire, whole);
  } else {
    answer.body = std::exchange(wire, {});  // ended by closing
  }
  return answer;
}

}  // namespace halogen::fuzz
