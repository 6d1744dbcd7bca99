// One client's TCP connection: reads, feeds the parser, holds the exchange that is being answered,
// writes, and decides when to close.
//
// It lives on the heap from open() until libuv has closed its handle, and deletes itself then;
// close() only begins that, so a connection is still there when a callback that closed it returns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <uv.h>

#include "core/http/exchange.h"
#include "core/http/internal/outbox.h"
#include "core/http/internal/request_parser.h"

namespace halogen::http {

class ServerCore;

class Connection {
 public:
  // Takes over the connected socket `fd`; closes it on failure.
  static void open(ServerCore& core, int fd, std::string peer, bool turn_away);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // For Exchange.
  std::string& output() { return outbox_.pending(); }
  void touch();              // there is output, or something to parse: serve() will be called
  bool admit(size_t bytes);  // false, and the connection doomed, above the ceiling
  Flow flow();               // open or congested
  bool may_keep_alive() const;
  std::string_view date() const;
  size_t buffered() const { return outbox_.buffered(); }
  void response_ended(bool keep_alive);
  void response_aborted();
  void out_of_memory();  // the response cannot go on: it will be cut off, as if the client had left

  // For Outbox.
  Outbox& outbox() { return outbox_; }
  void on_written(int status) noexcept;

  // For ServerCore.
  void serve() noexcept;                   // once per round of the loop in which it was touched
  void check_time(uint64_t now) noexcept;  // a few times per timeout
  void drain();
  void close();
  bool closing() const { return closing_; }
  // Since when the connection waits for a request; 0 while it does anything else.
  uint64_t idle_since() const { return is_idle() ? idle_since_ : 0; }
  bool in_flight() const { return exchange_ != nullptr; }

  static constexpr size_t kNowhere = static_cast<size_t>(-1);
  size_t index = kNowhere;        // in the core's list of connections
  size_t dirty_index = kNowhere;  // in the core's list of touched ones
  bool late = false;              // accepted while the server was draining already

 private:
  Connection(ServerCore& core, std::string peer);
  ~Connection() = default;

  void serve_round();
  void enforce_times(uint64_t now);
  void on_read(std::string_view data);
  void on_end(bool orderly);
  size_t parse(std::string_view data);
  bool may_parse() const;
  void dispatch();
  void refuse(const Refusal& refusal, bool keep_alive);
  void count_body(size_t bytes);
  bool too_many_bodies() const;
  std::string cors_fields() const;
  bool is_idle() const;
  template <typename Work>
  void survive(Work work) noexcept;
  void steer_reading();
  void after_write();
  void relieve();
  void note_end();
  bool reads_too_slowly(uint64_t now) const;
  void linger();
  void reset();
  uint64_t now() const;

  ServerCore& core_;
  uv_tcp_t socket_{};
  Outbox outbox_;
  RequestParser parser_;
  std::string inbox_;  // read ahead while a response is not finished
  std::string peer_;
  size_t body_bytes_ = 0;         // of the request that is arriving or being answered
  Exchange* exchange_ = nullptr;  // whose response is not finished; it clears this when it dies

  // Times are the loop's, in milliseconds.
  uint64_t idle_since_ = 0;
  uint64_t head_since_ = 0;  // 0 while no head is arriving
  uint64_t body_since_ = 0;  // 0 while no body is arriving
  uint64_t last_read_ = 0;
  uint64_t congested_since_ = 0;  // 0 while the stream flows freely
  uint64_t progress_since_ = 0;   // when a blocked outbox last got rid of something
  uint64_t sent_seen_ = 0;
  uint64_t ended_since_ = 0;  // when a response had ended that is still being sent; 0: none is
  uint64_t sent_at_end_ = 0;  // what had been sent then
  uint64_t linger_since_ = 0;

  bool reading_ = false;
  bool used_ = false;  // has sent a complete request
  bool peer_ended_ = false;
  bool close_after_write_ = false;
  bool lingering_ = false;
  bool doomed_ = false;  // to be reset at the next serve()
  bool closing_ = false;
};

}  // namespace halogen::http
