#include "tests/unit/http/fixture.h"

#include <array>
#include <cerrno>
#include <future>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/http/request.h"

namespace halogen::http::testing {

TestServer::TestServer(Handler handler, ServerOptions options) {
  loop_ = std::move(*Loop::create());
  auto server = Server::listen(*loop_, std::move(options), std::move(handler));
  if (!server) {
    ADD_FAILURE() << server.error().message;
    std::abort();
  }
  server_ = std::move(*server);
  thread_ = std::thread([this] { loop_->run(); });
}

TestServer::~TestServer() {
  on_loop([this] {
    server_.reset();
    kept.clear();
  });
  loop_->stop();
  thread_.join();
}

void TestServer::on_loop(const std::function<void()>& function) {
  std::promise<void> done;
  loop_->post([&] {
    function();
    done.set_value();
  });
  done.get_future().wait();
}

ServerStats TestServer::stats() {
  ServerStats stats;
  on_loop([&] { stats = server_->stats(); });
  return stats;
}

bool TestServer::eventually(const std::function<bool(const ServerStats&)>& condition) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < end) {
    if (condition(stats())) return true;
    std::this_thread::sleep_for(Milliseconds(2));
  }
  return false;
}

std::string Response::header(std::string_view name) const {
  size_t at = head.find("\r\n");
  while (at != std::string::npos && at + 2 < head.size()) {
    at += 2;
    const size_t end = head.find("\r\n", at);
    const std::string_view line = std::string_view(head).substr(at, end - at);
    const size_t colon = line.find(": ");
    if (colon != std::string_view::npos && equals_ignoring_case(line.substr(0, colon), name)) {
      return std::string(line.substr(colon + 2));
    }
    at = end;
  }
  return {};
}

RawClient::RawClient(uint16_t port, int receive_buffer)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (receive_buffer > 0) {
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    ADD_FAILURE() << "connect: errno " << errno;
  }
}

RawClient::RawClient(RawClient&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), buffer_(std::move(other.buffer_)) {}

RawClient::~RawClient() {
  close();
}

void RawClient::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

void RawClient::end_writing() {
  ::shutdown(fd_, SHUT_WR);
}

bool RawClient::send(std::string_view data) {
  while (!data.empty()) {
    const ssize_t sent = ::send(fd_, data.data(), data.size(), MSG_NOSIGNAL);
    if (sent < 0) return false;
    data.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

bool RawClient::fill(Milliseconds patience) {
  pollfd entry{fd_, POLLIN, 0};
  if (ended_ || ::poll(&entry, 1, static_cast<int>(patience.count())) <= 0) return false;
  std::array<char, 64 << 10> chunk;
  const ssize_t got = ::recv(fd_, chunk.data(), chunk.size(), 0);
  if (got <= 0) {
    ended_ = true;
    reset_ = got < 0 && errno == ECONNRESET;
    return false;
  }
  buffer_.append(chunk.data(), static_cast<size_t>(got));
  return true;
}

Response RawClient::response(bool for_head) {
  Response response;
  size_t end;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (!fill()) return response;
  }
  response.head = buffer_.substr(0, end + 2);
  buffer_.erase(0, end + 4);
  response.status = std::stoi(response.head.substr(9, 3));
  const bool bodiless =
      for_head || response.status < 200 || response.status == 204 || response.status == 304;
  if (bodiless) {
    response.complete = true;
  } else if (const std::string length = response.header("Content-Length"); !length.empty()) {
    const size_t size = std::stoul(length);
    while (buffer_.size() < size && fill()) {
    }
    response.complete = buffer_.size() >= size;
    response.body = buffer_.substr(0, size);
    buffer_.erase(0, size);
  } else if (response.header("Transfer-Encoding") == "chunked") {
    for (;;) {
      size_t line;
      while ((line = buffer_.find("\r\n")) == std::string::npos) {
        if (!fill()) return response;
      }
      const size_t size = std::stoul(buffer_.substr(0, line), nullptr, 16);
      while (buffer_.size() < line + 2 + size + 2) {
        if (!fill()) return response;
      }
      response.body.append(buffer_, line + 2, size);
      buffer_.erase(0, line + 2 + size + 2);
      if (size == 0) break;
    }
    response.complete = true;
  } else {
    while (fill()) {
    }
    response.complete = ended_ && !reset_;
    response.body = std::exchange(buffer_, {});
  }
  return response;
}

std::string RawClient::read_to_end() {
  while (fill()) {
  }
  return std::exchange(buffer_, {});
}

bool RawClient::read_until(std::string_view text) {
  while (buffer_.find(text) == std::string::npos) {
    if (!fill()) return false;
  }
  buffer_.erase(0, buffer_.find(text) + text.size());
  return true;
}

bool RawClient::closed_within(Milliseconds patience) {
  return buffer_.empty() && !fill(patience) && ended_;
}

std::string get(std::string_view target, std::string_view headers) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: test\r\n" + std::string(headers) +
         "\r\n";
}

std::string post(std::string_view target, std::string_view body, std::string_view headers) {
  return "POST " + std::string(target) +
         " HTTP/1.1\r\nHost: test\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         std::string(headers) + "\r\n" + std::string(body);
}

void echo(const std::shared_ptr<Exchange>& exchange) {
  const Request& request = exchange->request();
  exchange->respond(200, "text/plain",
                    std::string(request.method) + " " + request.path + " " + request.body);
}

std::string error_code(const std::string& body) {
  const auto json = nlohmann::json::parse(body, nullptr, false);
  if (!json.is_object() || json.size() != 1 || !json.contains("error")) return "not an error body";
  const auto& error = json["error"];
  if (error.size() != 4 || !error["message"].is_string() || !error["type"].is_string() ||
      !error["param"].is_null() || error["message"].get<std::string>().empty()) {
    return "not an error body";
  }
  return error["code"].is_string() ? error["code"].get<std::string>() : "null";
}

}  // namespace halogen::http::testing
