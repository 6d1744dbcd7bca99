// A server on a loop thread of its own, and a client that is nothing but a socket, so that tests
// can say exactly which bytes cross the wire and when.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/http/server.h"
#include "core/loop/loop.h"

namespace halogen::http::testing {

using Milliseconds = std::chrono::milliseconds;
inline constexpr Milliseconds kPatience{10'000};  // a test that waits this long has failed

class TestServer {
 public:
  explicit TestServer(Handler handler, ServerOptions options = {});
  ~TestServer();

  uint16_t port() const { return server_->port(); }
  Server& server() { return *server_; }  // on the loop thread
  Loop& loop() { return *loop_; }

  // Runs a function on the loop thread and waits for it.
  void on_loop(const std::function<void()>& function);
  ServerStats stats();

  // Waits until the statistics satisfy `condition`; false after kPatience.
  bool eventually(const std::function<bool(const ServerStats&)>& condition);

  // Exchanges that handlers keep; touched on the loop thread only, and released before the loop
  // goes.
  std::vector<std::shared_ptr<Exchange>> kept;

 private:
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

struct Response {
  int status = 0;  // 0: the connection ended, or nothing came in time
  std::string head;
  std::string body;  // with the chunked coding removed
  bool complete = false;

  // The value of a header, compared without regard to case; empty when absent.
  std::string header(std::string_view name) const;
};

class RawClient {
 public:
  // A small receive_buffer (bytes) makes a slow reader noticeable soon.
  explicit RawClient(uint16_t port, int receive_buffer = 0);
  RawClient(RawClient&& other) noexcept;
  RawClient& operator=(RawClient&&) = delete;
  ~RawClient();

  bool send(std::string_view data);
  // Reads one response; for_head says that no body follows whatever the head announces.
  Response response(bool for_head = false);
  // Reads until the server closes or resets; what came.
  std::string read_to_end();
  // Reads until `text` has come; false when the connection ends first.
  bool read_until(std::string_view text);
  // True when the server closes within `patience` without sending anything more.
  bool closed_within(Milliseconds patience);
  bool was_reset() const { return reset_; }
  void end_writing();
  void close();
  int fd() const { return fd_; }

 private:
  bool fill(Milliseconds patience = kPatience);  // one read into buffer_

  int fd_;
  std::string buffer_;
  bool reset_ = false;
  bool ended_ = false;
};

// "GET /path HTTP/1.1" with a Host header and whatever else.
std::string get(std::string_view target, std::string_view headers = {});
std::string post(std::string_view target, std::string_view body, std::string_view headers = {});

// A handler that answers with "METHOD path body".
void echo(const std::shared_ptr<Exchange>& exchange);

// The value at error.code of an OpenAI-shaped body; "not an error body" when its shape is wrong.
std::string error_code(const std::string& body);

}  // namespace halogen::http::testing
