// The HTTP/1.1 server: listens, parses, enforces limits, and hands complete requests to one
// handler.
//
// Per connection, requests are answered in order: the next one is parsed when the response to the
// one before has ended. Meanwhile the server keeps reading into a bounded buffer, which is how it
// notices that a client has left. A client that half-closes its side counts as gone.
//
// What the server answers by itself, in OpenAI's error shape:
//   and closes, since it cannot know where the next request begins or does not want to wait for it:
//     400 malformed, 408 too slow, 413 large body, 414 URL too long, 431 headers too large or too
//     many, 501 transfer codings and CONNECT, 503 too many connections or bytes of bodies,
//     505 other versions;
//   and goes on: 400 for a bad URL or Host, 417, 413 for a body that is hardly too large, 403 for a
//     POST of a page whose origin is not allowed, what the gate refuses, and 500 when the handler
//     throws. Where such a request has "Expect: 100-continue", or a body that is not worth reading,
//     it closes too.
//
// Malformed is whatever two readers could take for different requests: folded lines, a line feed or
// a carriage return alone, two lengths, a length beside chunks, a chunk that is not followed by its
// line end. Trailers keep the rules and limits of the head, and are then dropped.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/http/cors.h"
#include "core/http/exchange.h"
#include "core/http/refusal.h"

namespace halogen {
class Loop;
}

namespace halogen::http {

struct ServerOptions {
  std::string host = "127.0.0.1";  // a name or address; "::" listens on IPv4 and IPv6
  uint16_t port = 0;               // 0 lets the system choose

  // More are answered 503 and closed, unless one that has been idle for idle_grace can be closed
  // instead.
  size_t max_connections = 8192;
  std::chrono::milliseconds idle_grace{1'000};

  size_t header_limit = 64 << 10;    // bytes of request line and headers
  size_t header_fields_limit = 256;  // number of header fields
  size_t target_limit = 16 << 10;    // bytes of the URL
  size_t body_limit = 64 << 20;      // bytes of a request's body
  // Bytes of all bodies that are arriving or being answered; one of body_limit always fits.
  size_t bodies_limit = 1 << 30;
  size_t pipeline_limit = 64 << 10;  // bytes read ahead of the request being answered

  size_t write_buffer_limit = 1 << 20;     // above this a stream is congested, and parsing pauses
  size_t write_buffer_ceiling = 16 << 20;  // a stream that would exceed this is closed

  std::chrono::milliseconds first_byte_timeout{30'000};  // of a new connection
  std::chrono::milliseconds idle_timeout{120'000};       // between requests
  // From a request's first byte to its blank line.
  std::chrono::milliseconds header_timeout{15'000};
  std::chrono::milliseconds body_timeout{30'000};  // longest silence while a body arrives
  // A body that takes longer than body_grace must have arrived at body_rate bytes a second.
  std::chrono::milliseconds body_grace{60'000};
  size_t body_rate = 1024;
  // How long a stream may stay congested, or a finished response make no progress. What is left of
  // a response that has ended for longer must have been taken at write_rate bytes a second since.
  std::chrono::milliseconds write_stall_timeout{30'000};
  size_t write_rate = 1024;
  // After the last response, how long to wait for the client to close first, so that it reads it
  // all.
  std::chrono::milliseconds linger_timeout{1'000};

  Gate gate;        // may be empty
  CorsPolicy cors;  // which pages' scripts may send requests and read the responses

  // Told about what no client is told: handlers that throw, descriptors that run out. May be empty.
  std::function<void(std::string_view)> log;
};

struct ServerStats {
  size_t connections = 0;         // open now
  size_t requests_in_flight = 0;  // handed to the handler, response not ended
  size_t body_bytes = 0;          // of requests that are arriving or in flight
  uint64_t accepted = 0;          // the rest are totals since listen()
  uint64_t requests = 0;
  uint64_t refused_connections = 0;  // over max_connections or out of descriptors
  uint64_t refused_requests = 0;     // malformed, over a limit, or stopped by the gate
  uint64_t timeouts = 0;             // idle connections and slow requests
  uint64_t evictions = 0;            // idle connections closed to make room for new ones
  uint64_t slow_readers = 0;         // closed for not reading
  uint64_t disconnects = 0;          // clients that left before their response ended
  uint64_t handler_errors = 0;       // exceptions out of the handler
  uint64_t out_of_memory = 0;        // connections given up because there was no memory for them
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

  // [loop] Closes idle connections, and every other one after its response; requests in flight and
  // streams finish. Meanwhile new connections are accepted for one request each, so that the
  // handler can tell them why it serves no more. When those that were open have gone, stops
  // accepting, and posts `done` to the loop as soon as the last is closed. There is no deadline
  // here: destroy the server to cut what remains.
  void drain(std::function<void()> done);

  // [loop]
  ServerStats stats() const;

 private:
  Server(std::unique_ptr<ServerCore> core, uint16_t port);

  ServerCore* core_;  // deletes itself once libuv has closed the last handle
  const uint16_t port_;
};

}  // namespace halogen::http
