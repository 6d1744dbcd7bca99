#include "core/http/client.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include <llhttp.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace halogen::http {

namespace {

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&&) = delete;
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

Error system_error(std::string_view what, int error) {
  return fail(HALOGEN_E_IO, std::string(what) + ": " + std::strerror(error));
}

Status wait_for(int fd, short events, std::chrono::milliseconds timeout) {
  pollfd entry{fd, events, 0};
  for (;;) {
    const int rc = ::poll(&entry, 1, static_cast<int>(timeout.count()));
    if (rc > 0) return {};
    if (rc == 0) {
      return fail(HALOGEN_E_TIMEOUT,
                  "the server was silent for " + std::to_string(timeout.count()) + " ms");
    }
    if (errno != EINTR) return system_error("waiting for the server", errno);
  }
}

Result<Socket> connect_to(const addrinfo& address, std::chrono::milliseconds timeout) {
  Socket socket(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.fd() < 0) return system_error("creating a socket", errno);
  if (::connect(socket.fd(), address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return system_error("connecting", errno);
    if (Status ready = wait_for(socket.fd(), POLLOUT, timeout); !ready) return ready.error();
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return system_error("connecting", error);
  }
  return socket;
}

Result<Socket> connect_by_name(const ClientRequest& request) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* raw = nullptr;
  if (int rc =
          ::getaddrinfo(request.host.c_str(), std::to_string(request.port).c_str(), &hints, &raw);
      rc != 0) {
    return fail(HALOGEN_E_IO, std::string("looking up the host: ") + ::gai_strerror(rc));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(raw, &::freeaddrinfo);
  Error error = fail(HALOGEN_E_IO, "the host has no address");
  for (const addrinfo* a = raw; a != nullptr; a = a->ai_next) {
    Result<Socket> attempt = connect_to(*a, request.timeout);
    if (attempt) return attempt;
    error = attempt.error();
  }
  return error;
}

std::string serialise(const ClientRequest& request) {
  const bool ipv6_literal = request.host.find(':') != std::string::npos;
  std::string out = request.method + " " + request.target + " HTTP/1.1\r\nHost: ";
  out += ipv6_literal ? "[" + request.host + "]" : request.host;
  out += ":" + std::to_string(request.port) + "\r\nConnection: close\r\n";
  if (!request.body.empty())
    out += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  for (const Header& header : request.headers) out += header.name + ": " + header.value + "\r\n";
  return out + "\r\n" + request.body;
}

Status send_all(int fd, std::string_view data, std::chrono::milliseconds timeout) {
  while (!data.empty()) {
    const ssize_t sent = ::send(fd, data.data(), data.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      data.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EAGAIN) {
      if (Status ready = wait_for(fd, POLLOUT, timeout); !ready) return ready;
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return {};  // the server refused early; its reason may still be there to read
    } else if (errno != EINTR) {
      return system_error("sending the request", errno);
    }
  }
  return {};
}

// Collects one response from llhttp's callbacks.
class ResponseReader {
 public:
  ResponseReader(const BodyConsumer& consume, bool to_head) : consume_(consume), to_head_(to_head) {
    llhttp_settings_init(&settings_);
    settings_.on_header_field = [](llhttp_t* p, const char* at, size_t size) noexcept {
      ResponseReader& self = of(p);
      if (std::exchange(self.name_complete_, false)) self.response_.headers.open_field();
      self.response_.headers.extend_name({at, size});
      return 0;
    };
    settings_.on_header_field_complete = [](llhttp_t* p) noexcept {
      of(p).name_complete_ = true;
      return 0;
    };
    settings_.on_header_value = [](llhttp_t* p, const char* at, size_t size) noexcept {
      of(p).response_.headers.extend_value({at, size});
      return 0;
    };
    settings_.on_headers_complete = [](llhttp_t* p) noexcept { return of(p).to_head_ ? 1 : 0; };
    settings_.on_body = [](llhttp_t* p, const char* at, size_t size) noexcept {
      return of(p).on_body({at, size});
    };
    settings_.on_message_complete = [](llhttp_t* p) noexcept {
      ResponseReader& self = of(p);
      if (p->status_code < 200) {  // 100 Continue and its like precede the response
        self.response_ = ClientResponse();
        return 0;
      }
      self.response_.status = p->status_code;
      self.complete_ = true;
      return static_cast<int>(HPE_PAUSED);
    };
    llhttp_init(&parser_, HTTP_RESPONSE, &settings_);
    parser_.data = this;
  }
  ResponseReader(const ResponseReader&) = delete;
  ResponseReader& operator=(const ResponseReader&) = delete;

  Result<ClientResponse> read_from(int fd, std::chrono::milliseconds timeout) {
    std::array<char, 16 << 10> buffer;
    while (!complete_) {
      const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) {
        if (Status ready = wait_for(fd, POLLIN, timeout); !ready) return ready.error();
        continue;
      }
      if (got < 0) return system_error("reading the response", errno);
      const llhttp_errno_t error =
          got > 0 ? llhttp_execute(&parser_, buffer.data(), static_cast<size_t>(got))
                  : llhttp_finish(&parser_);
      if (cancelled_) return fail(HALOGEN_E_CANCELLED, "cancelled by the receiver of the body");
      if (complete_) break;
      if (error != HPE_OK && got > 0) {
        return fail(HALOGEN_E_IO,
                    std::string("the response is not valid HTTP: ") + llhttp_errno_name(error));
      }
      if (got == 0) return fail(HALOGEN_E_IO, "the server closed before the response was complete");
    }
    return std::move(response_);
  }

 private:
  static ResponseReader& of(llhttp_t* parser) {
    return *static_cast<ResponseReader*>(parser->data);
  }

  int on_body(std::string_view piece) {
    if (!consume_ || parser_.status_code / 100 != 2) {
      response_.body.append(piece);
      return 0;
    }
    cancelled_ = !consume_(piece);
    return cancelled_ ? HPE_USER : 0;
  }

  const BodyConsumer& consume_;
  const bool to_head_;
  llhttp_settings_t settings_{};
  llhttp_t parser_{};
  ClientResponse response_;
  bool name_complete_ = true;
  bool complete_ = false;
  bool cancelled_ = false;
};

}  // namespace

Result<ClientResponse> http_request(const ClientRequest& request, const BodyConsumer& consume) {
  const std::string where = request.method + " http://" + request.host + ":" +
                            std::to_string(request.port) + request.target;
  Result<Socket> socket = connect_by_name(request);
  if (!socket) return within(where, socket.error());
  if (Status sent = send_all(socket->fd(), serialise(request), request.timeout); !sent) {
    return within(where, sent.error());
  }
  ResponseReader reader(consume, request.method == "HEAD");
  Result<ClientResponse> response = reader.read_from(socket->fd(), request.timeout);
  if (!response) return within(where, response.error());
  return response;
}

}  // namespace halogen::http
