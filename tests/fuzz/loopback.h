// A server and its client on one thread, joined by a socket pair: what crosses the wire, and in
// which round of the loop, is decided by the caller, and no clock decides anything.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/internal/server_core.h"
#include "core/loop/loop.h"

namespace halogen::fuzz {

class Loopback {
 public:
  explicit Loopback(http::Handler handler, http::ServerOptions options = {});
  ~Loopback();
  Loopback(const Loopback&) = delete;
  Loopback& operator=(const Loopback&) = delete;

  // Opens a connection, sends the pieces, a round of the loop after each, and returns all that the
  // server sends until it closes or falls silent.
  std::string talk(const std::vector<std::string_view>& pieces);

  Loop& loop() { return *loop_; }
  http::ServerStats stats() const { return core_->stats_now(); }

 private:
  void round();

  std::unique_ptr<Loop> loop_;
  http::ServerCore* core_;  // deletes itself after shut_down()
};

// One answer of the server, taken apart.
struct Answer {
  int status = 0;
  std::string head;  // with the status line, without the empty line
  std::string body;  // with the chunked coding removed
};

// Takes the answer at the start of `wire` off it; an answer to HEAD has no body. Demands that it is
// well-formed. `whole` becomes false where it ends early, as it may where the connection was cut.
Answer take_answer(std::string_view& wire, bool head_only, bool& whole);

}  // namespace halogen::fuzz
