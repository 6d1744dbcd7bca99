// What the connections of one server share: options, the handler, the list of connections, and the
// three things that happen for all of them: serving those that were touched in this round of the
// loop, checking their times, and draining.
//
// Its libuv handles close asynchronously, so it deletes itself when the last one has closed after
// shut_down().
#pragma once

#include <array>
#include <cstdint>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <uv.h>

#include "core/http/internal/acceptor.h"
#include "core/http/server.h"
#include "core/loop/loop.h"

namespace halogen::http {

class Connection;

class ServerCore {
 public:
  ServerCore(Loop& loop, ServerOptions options, Handler handler);
  ServerCore(const ServerCore&) = delete;
  ServerCore& operator=(const ServerCore&) = delete;

  // For Server.
  Status listen() { return acceptor_.listen(options_.host, options_.port); }
  uint16_t port() const { return acceptor_.port(); }
  void drain(std::function<void()> done);
  void shut_down();  // the caller forgets this object
  ServerStats stats_now() const;

  // For Acceptor: takes over the socket.
  void accepted(int fd, std::string peer) noexcept;
  // For Acceptor: closes the connection that has been idle the longest, if one has been for a
  // while.
  bool make_room();

  // For Connection.
  const ServerOptions& options() const { return options_; }
  const Handler& handler() const { return handler_; }
  ServerStats& stats() { return stats_; }
  bool draining() const { return draining_; }
  uv_loop_t* uv() { return loop_.native(); }
  uv_buf_t read_buffer() { return {read_buffer_.data(), read_buffer_.size()}; }
  std::string_view date();  // IMF-fixdate, made anew once a second
  void log(std::string_view message) const;
  void add(Connection* connection);
  void remove(Connection* connection);
  void mark_dirty(Connection* connection);

  void handle_opened() { ++open_handles_; }
  void handle_closed();

 private:
  void serve_dirty();
  void check_times();
  void close_idle();
  void go_on_draining();
  uint64_t check_interval() const;

  Loop& loop_;
  const ServerOptions options_;
  const Handler handler_;
  Acceptor acceptor_;
  uv_prepare_t before_poll_{};  // serves the dirty ones just before the loop waits for I/O
  uv_idle_t keep_going_{};      // active while some are left over, so that the loop does not wait
  uv_timer_t clock_{};
  std::vector<Connection*> connections_;
  std::vector<Connection*> dirty_;     // null where one has closed
  std::vector<Connection*> snapshot_;  // for walks during which connections close
  std::vector<std::function<void()>> drained_;
  size_t late_ = 0;             // connections that were accepted while draining
  uint64_t no_room_until_ = 0;  // loop time before which no connection can have become idle enough
  ServerStats stats_;
  std::array<char, 64 << 10> read_buffer_;
  std::time_t date_time_ = 0;
  std::array<char, 48> date_text_{};
  size_t date_size_ = 0;
  size_t open_handles_ = 0;
  bool draining_ = false;
  bool shut_down_ = false;
};

}  // namespace halogen::http
