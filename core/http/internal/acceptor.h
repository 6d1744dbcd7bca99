// The listening socket. Accepting is done here rather than by uv_listen(), to decide what happens
// when descriptors run out: a client is told 503 with the help of a reserved descriptor, and when
// even that fails, accepting rests for a while instead of spinning on a socket that stays readable.
#pragma once

#include <cstdint>
#include <string>

#include <uv.h>

#include "core/base/result.h"

namespace halogen::http {

class ServerCore;

class Acceptor {
 public:
  explicit Acceptor(ServerCore& core) : core_(core) {}
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // Binds, listens and starts accepting into core.accepted().
  Status listen(const std::string& host, uint16_t port);

  uint16_t port() const { return port_; }
  bool open() const { return socket_ >= 0; }

  // Accepts again once a rest is over.
  void check_time(uint64_t now);

  // Stops for good. core.handle_closed() follows if listen() had succeeded.
  void close();

 private:
  Status bind_any(const std::string& host, uint16_t port);
  void accept_some();
  bool turn_one_away();
  void rest(int error);
  void start();

  ServerCore& core_;
  uv_poll_t poll_{};
  int socket_ = -1;
  int reserve_ = -1;
  uint16_t port_ = 0;
  uint64_t rest_until_ = 0;  // loop time; 0 while accepting
  bool polled_ = false;
};

}  // namespace halogen::http
