// The HTTP/1.1 server: listens, parses, enforces limits, and hands complete requests to one
// handler.
//
// Per connection, requests are answered in order: the next one is parsed when the response to the
// one before has ended. Meanwhile the server keeps reading into a bounded buffer, which is how it
// notices that a client has left. A client that half-closes its side counts as gone.
//
// What the server answers by itself, in OpenAI's error shape and then closing: 400 malformed, 408
// too slow, 413 body too large, 414 URL too long, 417, 431 headers too large, 501 transfer codings,
// 503 too many connections, 505; and 500, keeping the connection, when the handler throws.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/http/exchange.h"

namespace halogen {
class Loop;
}

namespace halogen::http {

struct ServerOptions {
  std::string host = "127.0.0.1";  // a name or address; "::" listens on IPv4 and IPv6
  uint16_t port = 0;               // 0 lets the system choose

  size_t max_connections = 8192;  // more are answered 503 and closed

  size_t header_limit = 64 << 10;    // bytes of request line and headers
  size_t target_limit = 16 << 10;    // bytes of the URL
  size_t body_limit = 64 << 20;      // bytes of a request's body
  size_t pipeline_limit = 64 << 10;  // bytes read ahead of the request being answered

  size_t write_buffer_limit = 1 << 20;     // above this a stream is congested, and parsing pauses
  size_t write_buffer_ceiling = 16 << 20;  // a stream that would exceed this is closed

  std::chrono::milliseconds idle_timeout{120'000};  // between requests
  std::chrono::milliseconds header_timeout{
      15'000};                                     // from a request's first byte to its blank line
  std::chrono::milliseconds body_timeout{30'000};  // longest silence while a body arrives
  // How long a stream may stay congested, or a finished response make no progress.
  std::chrono::milliseconds write_stall_timeout{30'000};
  // After the last response, how long to wait for the client to close first, so that it reads it
  // all.
  std::chrono::milliseconds linger_timeout{1'000};

  // Told about what no client is told: handlers that throw, descriptors that run out. May be empty.
  std::function<void(std::string_view)> log;
};

struct ServerStats {
  size_t connections = 0;         // open now
  size_t requests_in_flight = 0;  // handed to the handler, response not ended
  uint64_t accepted = 0;          // the rest are totals since listen()
  uint64_t requests = 0;
  uint64_t refused_connections = 0;  // over max_connections or out of descriptors
  uint64_t refused_requests = 0;     // malformed or over a limit
  uint64_t timeouts = 0;             // idle connections and slow requests
  uint64_t slow_readers = 0;         // closed for not reading
  uint64_t disconnects = 0;          // clients that left before their response ended
  uint64_t handler_errors = 0;       // exceptions out of the handler
};

// [loop] Called once for each request, when headers and body are complete.
using Handler = std::function<void(std::shared_ptr<Exchange>)>;

class ServerCore;

class Server {
 public:
  // [loop] Starts listening. Also makes the process ignore SIGPIPE. Fails with one sentence when
  // the address is unknown, in use or forbidden.
  static Result<std::unique_ptr<Server>> listen(Loop& loop, ServerOptions options, Handler handler);

  // [loop] Closes everything at once; on_close fires for requests in flight. Exchanges that outlive
  // the server are safe.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // [any] The port that was bound.
  uint16_t port() const { return port_; }

  // [loop] Stops accepting, closes idle connections, lets requests in flight and streams finish,
  // then posts `done` to the loop. There is no deadline here: destroy the server to cut what
  // remains.
  void drain(std::function<void()> done);

  // [loop]
  ServerStats stats() const;

 private:
  Server(std::unique_ptr<ServerCore> core, uint16_t port);

  ServerCore* core_;  // deletes itself once libuv has closed the last handle
  const uint16_t port_;
};

}  // namespace halogen::http
