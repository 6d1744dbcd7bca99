#include "core/http/internal/acceptor.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/http/internal/response_head.h"
#include "core/http/internal/server_core.h"

namespace halogen::http {

namespace {

constexpr uint64_t kRestMilliseconds = 100;
constexpr int kAcceptsPerRound = 256;
constexpr int kReadsOfOneTurnedAway = 16;
constexpr int kBacklog = 4096;  // the kernel lowers it to net.core.somaxconn

void set_option(int fd, int level, int name, int value) {
  ::setsockopt(fd, level, name, &value, sizeof value);
}

std::string describe(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  if (any->sa_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(any);
    uv_ip6_name(v6, text.data(), text.size());
    return "[" + std::string(text.data()) + "]:" + std::to_string(ntohs(v6->sin6_port));
  }
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(any);
  uv_ip4_name(v4, text.data(), text.size());
  return std::string(text.data()) + ":" + std::to_string(ntohs(v4->sin_port));
}

uint16_t bound_port(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

int open_reserve() {
  return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

}  // namespace

Status Acceptor::bind_any(const std::string& host, uint16_t port) {
  const std::string where = "cannot listen on " + host + " port " + std::to_string(port) + ": ";
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* raw = nullptr;
  if (int rc = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &raw); rc != 0) {
    return fail(HALOGEN_E_INVALID,
                where + ::gai_strerror(rc) + "; give an address of this machine");
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(raw, &::freeaddrinfo);
  int error = 0;
  for (const addrinfo* a = raw; a != nullptr; a = a->ai_next) {
    const int fd = ::socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
      error = errno;
      continue;
    }
    set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (a->ai_family == AF_INET6) set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    if (::bind(fd, a->ai_addr, a->ai_addrlen) == 0 && ::listen(fd, kBacklog) == 0) {
      socket_ = fd;
      port_ = bound_port(fd);
      return {};
    }
    error = errno;
    ::close(fd);
  }
  const char* advice = error == EADDRINUSE
                           ? "; stop the process that holds it or choose another port"
                       : error == EACCES ? "; choose a port above 1023"
                                         : "; give an address of this machine";
  return fail(error == EADDRINUSE ? HALOGEN_E_BUSY : HALOGEN_E_IO,
              where + std::strerror(error) + advice);
}

Status Acceptor::listen(const std::string& host, uint16_t port) {
  if (Status bound = bind_any(host, port); !bound) return bound;
  if (int rc = uv_poll_init(core_.uv(), &poll_, socket_); rc != 0) {
    ::close(std::exchange(socket_, -1));
    return fail(HALOGEN_E_IO, std::string("cannot watch the listening socket: ") + uv_strerror(rc) +
                                  "; raise the limit on open files (ulimit -n)");
  }
  poll_.data = this;
  polled_ = true;
  core_.handle_opened();
  reserve_ = open_reserve();
  start();
  return {};
}

void Acceptor::start() {
  rest_until_ = 0;
  uv_poll_start(&poll_, UV_READABLE, [](uv_poll_t* handle, int, int) noexcept {
    static_cast<Acceptor*>(handle->data)->accept_some();
  });
}

void Acceptor::accept_some() {
  for (int i = 0; i < kAcceptsPerRound && socket_ >= 0 && rest_until_ == 0; ++i) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    const int fd = ::accept4(socket_, reinterpret_cast<sockaddr*>(&address), &size,
                             SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
      set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);  // finds clients that vanished without a word
      set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 60);
      try {
        core_.accepted(fd, describe(address));
      } catch (const std::bad_alloc&) {  // for the address' text: accepted() throws nothing
        ::close(fd);
      }
      continue;
    }
    switch (errno) {
      case EAGAIN:
        return;
      case EINTR:
      case ECONNABORTED:
      case EPROTO:
        continue;  // that client has left already
      case EMFILE:
      case ENFILE:
        if (core_.make_room() || turn_one_away()) continue;
        rest(EMFILE);
        return;
      default:
        rest(errno);
        return;
    }
  }
}

bool Acceptor::turn_one_away() {
  if (reserve_ < 0) return false;
  ::close(reserve_);
  const int fd = ::accept4(socket_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0) {
    ++core_.stats().refused_connections;
    std::string text;
    ResponseHead head;
    head.date = core_.date();
    head.connection = "close";
    append_refusal(text,
                   {503,
                    "too_many_connections",
                    "the server has no free descriptors; try again later",
                    {{"Retry-After", "1"}}},
                   head, false);
    [[maybe_unused]] ssize_t sent = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    ::shutdown(fd, SHUT_WR);
    // Input left unread would turn the close into a reset and could cost the client its answer; but
    // a client that never pauses is not read to its end.
    std::array<char, 4096> sink;
    int reads = 0;
    while (reads < kReadsOfOneTurnedAway && ::recv(fd, sink.data(), sink.size(), 0) > 0) ++reads;
    ::close(fd);
  }
  reserve_ = open_reserve();
  return fd >= 0 && reserve_ >= 0;
}

void Acceptor::rest(int error) {
  core_.log(std::string("accepting connections rests for a moment: ") + std::strerror(error) +
            "; raise the limit on open files (ulimit -n) or lower max_connections");
  uv_poll_stop(&poll_);
  rest_until_ = uv_now(core_.uv()) + kRestMilliseconds;
}

void Acceptor::check_time(uint64_t now) {
  if (socket_ < 0 || rest_until_ == 0 || now < rest_until_) return;
  if (reserve_ < 0) reserve_ = open_reserve();
  start();
}

void Acceptor::close() {
  if (std::exchange(polled_, false)) {
    uv_close(reinterpret_cast<uv_handle_t*>(&poll_), [](uv_handle_t* handle) noexcept {
      static_cast<Acceptor*>(handle->data)->core_.handle_closed();
    });
  }
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  if (reserve_ >= 0) ::close(std::exchange(reserve_, -1));
}

}  // namespace halogen::http
