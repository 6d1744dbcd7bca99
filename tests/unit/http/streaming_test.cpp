// Streams: framing, back-pressure, disconnects, and exchanges that outlive everything.
#include <algorithm>
#include <atomic>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/http/sse.h"
#include "tests/unit/http/fixture.h"

namespace halogen::http {
namespace {

using namespace testing;  // NOLINT: the fixture's names

// A server whose handler begins a stream, writes `first`, and keeps the exchange.
class StreamServer : public TestServer {
 public:
  explicit StreamServer(ServerOptions options = {}, std::string first = "first")
      : TestServer(
            [this, first = std::move(first)](const std::shared_ptr<Exchange>& exchange) {
              exchange->set_on_close([this] { ++closed; });
              exchange->begin_stream(200, "text/plain");
              exchange->write(first);
              kept.push_back(exchange);
            },
            std::move(options)) {}

  bool close_was_reported() {
    return eventually([this](const ServerStats&) { return closed > 0; });
  }

  std::atomic<int> closed{0};
};

TEST(Streaming, SendsEventsAsTheyAreWritten) {
  StreamServer server({}, sse_event("1"));
  RawClient client(server.port());
  client.send(get("/"));
  EXPECT_TRUE(client.read_until("data: 1\n\n"));
  server.on_loop([&] { EXPECT_EQ(server.kept[0]->write(sse_event("2")), Flow::open); });
  EXPECT_TRUE(client.read_until("data: 2\n\n"));
  server.on_loop([&] {
    server.kept[0]->write(kSseDone);
    server.kept[0]->end();
    EXPECT_FALSE(server.kept[0]->is_open());
    EXPECT_EQ(server.kept[0]->write("late"), Flow::closed);
  });
  EXPECT_TRUE(client.read_until("data: [DONE]\n\n\r\n0\r\n\r\n"));
  EXPECT_EQ(server.closed, 0);
}

TEST(Streaming, OneRoundOfTheLoopIsOneChunkedMessageOnTheWire) {
  TestServer server([](const std::shared_ptr<Exchange>& exchange) {
    exchange->begin_stream(200, "text/event-stream", {{"Cache-Control", "no-cache"}});
    exchange->write("one");
    exchange->write("");
    exchange->write("0123456789abcdef");
    exchange->end();
  });
  RawClient client(server.port());
  client.send(get("/") + get("/"));
  for (int i = 0; i < 2; ++i) {
    const Response response = client.response();
    EXPECT_EQ(response.header("transfer-encoding"), "chunked");
    EXPECT_EQ(response.header("content-length"), "");
    EXPECT_EQ(response.header("cache-control"), "no-cache");
    EXPECT_EQ(response.body, "one0123456789abcdef");
    EXPECT_TRUE(response.complete);
  }
}

TEST(Streaming, DisconnectInMidStreamIsReportedOnce) {
  StreamServer server;
  RawClient client(server.port());
  client.send(get("/"));
  ASSERT_TRUE(client.read_until("first"));
  client.close();
  EXPECT_TRUE(server.close_was_reported());
  server.on_loop([&] {
    EXPECT_FALSE(server.kept[0]->is_open());
    EXPECT_EQ(server.kept[0]->write("x"), Flow::closed);
    server.kept[0]->end();
    server.kept[0]->respond(200, "", "x");
  });
  EXPECT_EQ(server.closed, 1);
  EXPECT_EQ(server.stats().disconnects, 1u);
  EXPECT_EQ(server.stats().requests_in_flight, 0u);
}

TEST(Streaming, DisconnectBeforeTheResponseIsReported) {
  std::atomic<int> closed{0};
  TestServer* self = nullptr;
  TestServer server([&](const std::shared_ptr<Exchange>& exchange) {
    exchange->set_on_close([&] { ++closed; });
    self->kept.push_back(exchange);
  });
  self = &server;
  RawClient client(server.port());
  client.send(get("/"));
  ASSERT_TRUE(server.eventually([](const ServerStats& s) { return s.requests_in_flight == 1; }));
  client.close();
  EXPECT_TRUE(server.eventually([&](const ServerStats&) { return closed == 1; }));
}

TEST(Streaming, DisconnectIsNoticedBehindPipelinedRequests) {
  StreamServer server;
  RawClient client(server.port());
  client.send(get("/") + get("/second") + "GET /half");
  ASSERT_TRUE(client.read_until("first"));
  client.close();
  EXPECT_TRUE(server.close_was_reported());
  EXPECT_EQ(server.stats().requests, 1u) << "a client that left is not served further";
}

TEST(Streaming, CloseCallbackSetAfterTheDisconnectRunsAtOnce) {
  TestServer* self = nullptr;
  TestServer server([&](const std::shared_ptr<Exchange>& e) { self->kept.push_back(e); });
  self = &server;
  RawClient client(server.port());
  client.send(get("/"));
  ASSERT_TRUE(server.eventually([](const ServerStats& s) { return s.requests_in_flight == 1; }));
  client.close();
  ASSERT_TRUE(server.eventually([](const ServerStats& s) { return s.disconnects == 1; }));
  int calls = 0;
  server.on_loop([&] {
    server.kept[0]->set_on_close([&] { ++calls; });
    server.kept[0]->set_on_close([&] { ++calls; });
  });
  EXPECT_EQ(calls, 1);
}

TEST(Streaming, NoCloseIsReportedAfterTheEnd) {
  StreamServer server;
  RawClient client(server.port());
  client.send(get("/"));
  ASSERT_TRUE(client.read_until("first"));
  server.on_loop([&] { server.kept[0]->end(); });
  ASSERT_TRUE(client.read_until("0\r\n\r\n"));
  client.close();
  ASSERT_TRUE(server.eventually([](const ServerStats& s) { return s.connections == 0; }));
  EXPECT_EQ(server.closed, 0);
  EXPECT_EQ(server.stats().disconnects, 0u);
}

TEST(Streaming, DroppedExchangesDoNotLeaveTheClientWaiting) {
  TestServer server([](const std::shared_ptr<Exchange>& exchange) {
    if (exchange->request().path == "/stream") exchange->begin_stream(200, "text/plain");
  });
  RawClient client(server.port());
  client.send(get("/"));
  EXPECT_EQ(client.response().status, 500);
  client.send(get("/stream"));
  EXPECT_FALSE(client.response().complete);
  EXPECT_TRUE(client.was_reset());
}

TEST(Streaming, AbortResetsTheConnectionAndReportsNothing) {
  StreamServer server;
  RawClient client(server.port());
  client.send(get("/"));
  ASSERT_TRUE(client.read_until("first"));
  server.on_loop([&] { server.kept[0]->abort(); });
  client.read_to_end();
  EXPECT_TRUE(client.was_reset());
  EXPECT_EQ(server.closed, 0);
}

// A producer that heeds `congested` moves much data through a small buffer.
TEST(Streaming, ProducerIsPausedAndResumedByTheReader) {
  constexpr size_t kTotal = 24 << 20;
  ServerOptions options;
  options.write_buffer_limit = 128 << 10;
  const std::string piece(32 << 10, 'p');
  size_t written = 0;
  size_t most_buffered = 0;
  std::function<void()> produce;
  TestServer* self = nullptr;
  TestServer server(
      [&](const std::shared_ptr<Exchange>& exchange) {
        exchange->begin_stream(200, "application/octet-stream");
        self->kept.push_back(exchange);
        produce = [&] {
          Exchange& stream = *self->kept[0];
          Flow flow = Flow::open;
          while (flow == Flow::open && written < kTotal) {
            flow = stream.write(piece);
            written += piece.size();
            most_buffered = std::max(most_buffered, stream.buffered());
          }
          if (written >= kTotal) stream.end();
        };
        exchange->set_on_writable([&] { produce(); });
        produce();
      },
      options);
  self = &server;
  RawClient client(server.port(), 64 << 10);
  client.send(get("/"));
  std::this_thread::sleep_for(Milliseconds(100));
  server.on_loop([&] { EXPECT_LT(written, kTotal) << "the producer was never paused"; });
  const Response response = client.response();
  EXPECT_TRUE(response.complete);
  EXPECT_EQ(response.body.size(), kTotal);
  server.on_loop([&] { EXPECT_LT(most_buffered, 256u << 10); });
}

// Whatever the size of the pieces, that is, wherever between empty and its limit the buffer gets
// stuck.
TEST(Streaming, ReaderThatStallsIsClosedAfterTheStallTimeout) {
  ServerOptions options;
  options.write_buffer_limit = 64 << 10;
  options.write_stall_timeout = Milliseconds(100);
  for (const size_t size : {16 << 10, 24 << 10, 40 << 10, 64 << 10}) {
    StreamServer server(options);
    RawClient client(server.port(), 16 << 10);
    client.send(get("/"));
    ASSERT_TRUE(server.eventually([](const ServerStats& s) { return s.requests_in_flight == 1; }));
    // The kernel's own buffers take some megabytes at first, so the producer goes on whenever it
    // may.
    server.on_loop([&] {
      auto produce = [&stream = *server.kept[0], piece = std::string(size, 's')] {
        while (stream.write(piece) == Flow::open) {
        }
      };
      server.kept[0]->set_on_writable(produce);
      produce();
    });
    EXPECT_TRUE(server.close_was_reported()) << size;
    EXPECT_EQ(server.stats().slow_readers, 1u) << size;
    EXPECT_EQ(server.closed, 1) << size;
  }
}

TEST(Streaming, SlowHandlerIsNotTakenForASlowReader) {
  ServerOptions options;
  options.write_stall_timeout = Milliseconds(50);
  TestServer server(
      [](const std::shared_ptr<Exchange>& exchange) {
        if (exchange->request().path == "/stream") {
          exchange->begin_stream(200, "text/plain");
          exchange->write(std::string(2 << 20, 'x'));
          std::this_thread::sleep_for(Milliseconds(150));
          exchange->end();
        } else {
          std::this_thread::sleep_for(Milliseconds(150));
          exchange->respond(200, "text/plain", std::string(2 << 20, 'x'));
        }
      },
      options);
  RawClient client(server.port());
  for (const char* path : {"/", "/stream"}) {
    client.send(get(path));
    const Response response = client.response();
    EXPECT_TRUE(response.complete) << path;
    EXPECT_EQ(response.body.size(), 2u << 20) << path;
  }
}

TEST(Streaming, ProducerThatIgnoresCongestionHitsTheCeiling) {
  ServerOptions options;
  options.write_buffer_limit = 64 << 10;
  options.write_buffer_ceiling = 1 << 20;
  StreamServer server(options);
  RawClient client(server.port(), 16 << 10);
  client.send(get("/"));
  ASSERT_TRUE(server.eventually([](const ServerStats& s) { return s.requests_in_flight == 1; }));
  size_t most_buffered = 0;
  server.on_loop([&] {
    const std::string piece(64 << 10, 's');
    Exchange& stream = *server.kept[0];
    for (int i = 0; i < 1000; ++i) {
      stream.write(piece);
      most_buffered = std::max(most_buffered, stream.buffered());
    }
    EXPECT_EQ(stream.write(piece), Flow::closed);
    EXPECT_EQ(server.closed, 0) << "the callback must not run inside write()";
  });
  EXPECT_TRUE(server.close_was_reported());
  EXPECT_LE(most_buffered, 1u << 20);
  EXPECT_EQ(server.stats().slow_readers, 1u);
}

TEST(Streaming, FinishedResponseThatNobodyReadsIsGivenUp) {
  ServerOptions options;
  options.write_stall_timeout = Milliseconds(200);
  TestServer server(
      [](const std::shared_ptr<Exchange>& exchange) {
        exchange->respond(200, "text/plain", std::string(12 << 20, 'x'));
      },
      options);
  RawClient client(server.port(), 16 << 10);
  client.send(get("/"));
  EXPECT_TRUE(server.eventually([](const ServerStats& s) { return s.slow_readers == 1; }));
  EXPECT_EQ(server.stats().connections, 0u);
}

TEST(Streaming, SlowButSteadyReaderOfAFinishedResponseGetsItAll) {
  ServerOptions options;
  options.write_stall_timeout = Milliseconds(300);
  TestServer server(
      [](const std::shared_ptr<Exchange>& exchange) {
        exchange->respond(200, "text/plain", std::string(12 << 20, 'x'));
      },
      options);
  RawClient client(server.port(), 256 << 10);
  client.send(get("/"));
  size_t got = 0;
  std::string buffer(512 << 10, '\0');
  while (got < (12u << 20)) {
    const ssize_t n = ::recv(client.fd(), buffer.data(), buffer.size(), MSG_WAITALL);
    ASSERT_GT(n, 0) << "cut off after " << got;
    got += static_cast<size_t>(n);
    std::this_thread::sleep_for(Milliseconds(20));
  }
  EXPECT_EQ(server.stats().slow_readers, 0u);
}

// One byte now and then keeps no connection for ever.
TEST(Streaming, ReaderOfAFinishedResponseThatIsTooSlowIsGivenUp) {
  ServerOptions options;
  options.write_stall_timeout = Milliseconds(300);
  options.write_rate = 1 << 30;
  TestServer server(
      [](const std::shared_ptr<Exchange>& exchange) {
        exchange->respond(200, "text/plain", std::string(32 << 20, 'x'));
      },
      options);
  RawClient client(server.port(), 256 << 10);
  client.send(get("/"));
  size_t got = 0;
  std::string buffer(256 << 10, '\0');
  while (got < (32u << 20)) {
    const ssize_t n = ::recv(client.fd(), buffer.data(), buffer.size(), MSG_WAITALL);
    if (n <= 0) break;
    got += static_cast<size_t>(n);
    std::this_thread::sleep_for(Milliseconds(20));
  }
  EXPECT_LT(got, 32u << 20);
  EXPECT_EQ(server.stats().slow_readers, 1u);
}

TEST(Streaming, ServerDestroyedInMidStreamReportsTheClose) {
  auto loop = std::move(*Loop::create());
  int closed = 0;
  std::shared_ptr<Exchange> kept;
  auto server = std::move(*Server::listen(*loop, {}, [&](const std::shared_ptr<Exchange>& e) {
    e->set_on_close([&] { ++closed; });
    e->begin_stream(200, "text/plain");
    kept = e;
    loop->stop();
  }));
  RawClient client(server->port());
  client.send(get("/"));
  loop->run();
  server.reset();
  EXPECT_EQ(closed, 1);
  EXPECT_EQ(kept->write("x"), Flow::closed);
  loop.reset();
  kept->end();  // an exchange may even outlive the loop
}

TEST(Drain, WaitsForStreamsAndClosesIdleConnections) {
  StreamServer server;
  RawClient idle(server.port());
  RawClient partial(server.port());
  RawClient streaming(server.port());
  partial.send("GET /partial HTTP/1.1\r\n");
  streaming.send(get("/") + get("/after"));
  ASSERT_TRUE(streaming.read_until("first"));
  ASSERT_TRUE(server.eventually([](const ServerStats& s) { return s.connections == 3; }));
  std::atomic<int> done{0};
  server.on_loop([&] { server.server().drain([&] { ++done; }); });
  EXPECT_TRUE(idle.closed_within(kPatience));
  partial.send("Host: t\r\n\r\n");
  ASSERT_TRUE(partial.read_until("Connection: close"));
  server.on_loop([&] {
    EXPECT_EQ(done, 0);
    ASSERT_EQ(server.kept.size(), 2u);
    server.kept[0]->write("last words");
    server.kept[0]->end();
  });
  EXPECT_TRUE(streaming.read_until("last words\r\n0\r\n\r\n"));
  EXPECT_TRUE(streaming.closed_within(kPatience)) << "what was pipelined behind is not served";
  streaming.close();
  EXPECT_EQ(done, 0);
  server.on_loop([&] { server.kept[1]->end(); });
  partial.read_to_end();
  partial.close();
  EXPECT_TRUE(server.eventually([&](const ServerStats&) { return done == 1; }));
  EXPECT_EQ(server.closed, 0);
}

bool connects(uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool connected = ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(fd);
  return connected;
}

// Whoever comes while the last stream runs is told so by the handler, once, and does not hold the
// drain up.
TEST(Drain, AnswersNewConnectionsUntilTheOldOnesAreDone) {
  StreamServer server;
  RawClient streaming(server.port());
  streaming.send(get("/"));
  ASSERT_TRUE(streaming.read_until("first"));
  std::atomic<int> done{0};
  server.on_loop([&] { server.server().drain([&] { ++done; }); });
  RawClient late(server.port());
  late.send(get("/late") + get("/later"));
  ASSERT_TRUE(late.read_until("Connection: close"));
  server.on_loop([&] { server.kept[1]->end(); });
  ASSERT_TRUE(late.read_until("0\r\n\r\n"));
  EXPECT_TRUE(late.closed_within(kPatience)) << "one request each";
  late.close();
  RawClient silent(server.port());
  ASSERT_TRUE(server.eventually([](const ServerStats& s) { return s.accepted == 3; }));
  EXPECT_EQ(done, 0);
  server.on_loop([&] { server.kept[0]->end(); });
  streaming.read_to_end();
  streaming.close();
  EXPECT_TRUE(silent.closed_within(kPatience));
  EXPECT_TRUE(server.eventually([&](const ServerStats&) { return done == 1; }));
  EXPECT_FALSE(connects(server.port()));
}

TEST(Drain, OfAnEmptyServerIsDoneAtOnce) {
  TestServer server(echo);
  std::atomic<int> done{0};
  server.on_loop([&] {
    server.server().drain([&] { ++done; });
    EXPECT_EQ(done, 0) << "done is posted, never called inside drain()";
  });
  EXPECT_TRUE(server.eventually([&](const ServerStats&) { return done == 1; }));
}

}  // namespace
}  // namespace halogen::http
