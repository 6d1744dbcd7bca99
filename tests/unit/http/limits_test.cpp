// Nothing a client does may cost the server more than its limits say.
#include <algorithm>
#include <atomic>
#include <thread>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/http/fixture.h"

namespace halogen::http {
namespace {

using namespace testing;  // NOLINT: the fixture's names
using Clock = std::chrono::steady_clock;

TEST(Limits, HeadersTooLargeGet431WithoutWaitingForTheirEnd) {
  ServerOptions options;
  options.header_limit = 2000;
  TestServer server(echo, options);
  RawClient fits(server.port());
  fits.send(get("/", "X: " + std::string(1900, 'a') + "\r\n"));
  EXPECT_EQ(fits.response().status, 200);
  RawClient one(server.port());
  one.send("GET / HTTP/1.1\r\nX: " + std::string(2001, 'a'));
  const Response response = one.response();
  EXPECT_EQ(response.status, 431);
  EXPECT_EQ(error_code(response.body), "headers_too_large");
  RawClient many(server.port());
  std::string fields = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 401; ++i) fields += "a:\r\n";
  many.send(fields);
  EXPECT_EQ(many.response().status, 431);
}

TEST(Limits, TooManyHeaderFieldsGet431) {
  ServerOptions options;
  options.header_fields_limit = 3;
  TestServer server(echo, options);
  RawClient client(server.port());
  client.send(get("/", "A: 1\r\nB: 2\r\n") + get("/", "A: 1\r\nB: 2\r\nC: 3\r\n"));
  EXPECT_EQ(client.response().status, 200);
  const Response response = client.response();
  EXPECT_EQ(response.status, 431);
  EXPECT_EQ(error_code(response.body), "too_many_headers");
}

TEST(Limits, TrailersCountAsHeaders) {
  ServerOptions options;
  options.header_limit = 1000;
  TestServer server(echo, options);
  RawClient client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: " +
              std::string(1001, 'a'));
  EXPECT_EQ(client.response().status, 431);
}

TEST(Limits, UrlTooLongGets414) {
  ServerOptions options;
  options.target_limit = 100;
  TestServer server(echo, options);
  RawClient fits(server.port());
  fits.send(get("/" + std::string(99, 'a')));
  EXPECT_EQ(fits.response().status, 200);
  RawClient client(server.port());
  client.send("GET /" + std::string(100, 'a'));
  const Response response = client.response();
  EXPECT_EQ(response.status, 414);
  EXPECT_EQ(error_code(response.body), "uri_too_long");
}

TEST(Limits, AnnouncedBodyTooLargeGets413BeforeItIsSent) {
  ServerOptions options;
  options.body_limit = 1000;
  TestServer server(echo, options);
  RawClient fits(server.port());
  fits.send(post("/", std::string(1000, 'b')));
  EXPECT_EQ(fits.response().status, 200);
  RawClient client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 1000000\r\n\r\n");
  const Response response = client.response();
  EXPECT_EQ(response.status, 413);
  EXPECT_EQ(error_code(response.body), "body_too_large");
}

TEST(Limits, ChunkedBodyTooLargeGets413) {
  ServerOptions options;
  options.body_limit = 1000;
  TestServer server(echo, options);
  RawClient client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" +
              std::string(1001, 'b'));
  EXPECT_EQ(client.response().status, 413);
}

// However many connections send them: what has arrived counts, and what is being answered.
TEST(Limits, BodiesThatTogetherExceedTheirLimitGet503) {
  ServerOptions options;
  options.body_limit = options.bodies_limit = 1000;
  TestServer* self = nullptr;
  TestServer server(
      [&](const std::shared_ptr<Exchange>& exchange) {
        if (exchange->request().path == "/kept") return self->kept.push_back(exchange);
        echo(exchange);
      },
      options);
  self = &server;
  const auto holds = [&](size_t bytes) {
    return server.eventually([=](const ServerStats& s) { return s.body_bytes == bytes; });
  };
  const std::string body(800, 'b');
  const auto refused = [&] {
    RawClient client(server.port());
    client.send(post("/", body));
    const Response response = client.response();
    EXPECT_EQ(error_code(response.body), "too_many_bodies");
    EXPECT_EQ(response.header("retry-after"), "1");
    EXPECT_TRUE(client.closed_within(kPatience));
    return response.status == 503;
  };
  RawClient first(server.port());
  first.send("POST /kept HTTP/1.1\r\nHost: t\r\nContent-Length: 800\r\n\r\n" + body.substr(0, 700));
  ASSERT_TRUE(holds(700)) << "while it arrives";
  EXPECT_TRUE(refused());
  first.send(body.substr(700));
  ASSERT_TRUE(server.eventually([](const ServerStats& s) { return s.requests_in_flight == 1; }));
  ASSERT_TRUE(holds(800)) << "while it is answered";
  EXPECT_TRUE(refused());
  RawClient without(server.port());
  without.send(get("/"));
  EXPECT_EQ(without.response().status, 200) << "a request without a body adds nothing";
  server.on_loop([&] { server.kept.at(0)->respond(200, "", "done"); });
  EXPECT_EQ(first.response().body, "done");
  ASSERT_TRUE(holds(0));
  without.send(post("/", body));
  EXPECT_EQ(without.response().body, "POST / " + body);
}

TEST(Limits, BodiesOfClientsThatLeaveAreForgotten) {
  ServerOptions options;
  options.bodies_limit = options.body_limit = 1000;
  options.body_timeout = Milliseconds(200);
  TestServer* self = nullptr;
  TestServer server([&](const std::shared_ptr<Exchange>& e) { self->kept.push_back(e); }, options);
  self = &server;
  const auto holds = [&](size_t bytes) {
    return server.eventually([=](const ServerStats& s) { return s.body_bytes == bytes; });
  };
  RawClient arriving(server.port());
  arriving.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\n\r\nabc");
  ASSERT_TRUE(holds(3));
  EXPECT_EQ(arriving.response().status, 408);
  EXPECT_TRUE(holds(0));
  RawClient answered(server.port());
  answered.send(post("/", "abc"));
  ASSERT_TRUE(holds(3));
  answered.close();
  EXPECT_TRUE(holds(0));
}

// The client still sends when the refusal comes; it must be able to read why all the same.
TEST(Limits, RefusalReachesAClientThatIsStillSending) {
  ServerOptions options;
  options.body_limit = 1000;
  TestServer server(echo, options);
  for (int round = 0; round < 20; ++round) {
    RawClient client(server.port());
    client.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 500000\r\n\r\n" +
                std::string(500000, 'b'));
    ASSERT_EQ(client.response().status, 413);
  }
}

TEST(Limits, SlowHeadersGet408EvenWhenBytesKeepComing) {
  ServerOptions options;
  options.header_timeout = Milliseconds(200);
  TestServer server(echo, options);
  RawClient client(server.port());
  client.send("GET / HTTP/1.1\r\nX: ");
  std::atomic<bool> answered{false};
  std::thread drip([&] {
    while (!answered && client.send("a")) std::this_thread::sleep_for(Milliseconds(10));
  });
  const Response response = client.response();
  answered = true;
  drip.join();
  EXPECT_EQ(response.status, 408);
  EXPECT_EQ(error_code(response.body), "request_timeout");
}

TEST(Limits, SilentBodyGets408ButASlowOneArrives) {
  ServerOptions options;
  options.body_timeout = Milliseconds(200);
  TestServer server(echo, options);
  RawClient silent(server.port());
  silent.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_EQ(silent.response().status, 408);
  RawClient slow(server.port());
  slow.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\n");
  for (int i = 0; i < 10; ++i) {
    std::this_thread::sleep_for(Milliseconds(40));
    slow.send("x");
  }
  EXPECT_EQ(slow.response().body, "POST / xxxxxxxxxx");
}

// One byte now and then keeps no connection for ever.
TEST(Limits, BodyThatTricklesGets408AfterItsGrace) {
  ServerOptions options;
  options.body_grace = Milliseconds(200);
  options.body_rate = 100'000;
  TestServer server(echo, options);
  RawClient client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 1000\r\n\r\n");
  std::atomic<bool> answered{false};
  std::thread drip([&] {
    while (!answered && client.send("x")) std::this_thread::sleep_for(Milliseconds(10));
  });
  EXPECT_EQ(client.response().status, 408);
  answered = true;
  drip.join();
}

TEST(Limits, ChunkTooLargeGets413BeforeItArrives) {
  ServerOptions options;
  options.body_limit = 1000;
  TestServer server(echo, options);
  RawClient client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n" +
              std::string(1000, 'b') + "\r\n1\r\n");
  EXPECT_EQ(client.response().status, 413);
}

TEST(Limits, IdleConnectionsAreClosedWithoutAWord) {
  ServerOptions options;
  options.first_byte_timeout = options.idle_timeout = Milliseconds(150);
  TestServer server(echo, options);
  RawClient fresh(server.port());
  RawClient used(server.port());
  used.send(get("/"));
  EXPECT_EQ(used.response().status, 200);
  EXPECT_TRUE(fresh.closed_within(kPatience));
  EXPECT_TRUE(used.closed_within(kPatience));
  EXPECT_EQ(server.stats().timeouts, 2u);
}

TEST(Limits, AHandlerMayTakeLongerThanEveryTimeout) {
  ServerOptions options;
  options.idle_timeout = options.header_timeout = options.body_timeout =
      options.write_stall_timeout = Milliseconds(50);
  TestServer* self = nullptr;
  TestServer server([&](const std::shared_ptr<Exchange>& e) { self->kept.push_back(e); }, options);
  self = &server;
  RawClient client(server.port());
  client.send(get("/"));
  std::this_thread::sleep_for(Milliseconds(300));
  server.on_loop([&] { server.kept.at(0)->respond(200, "", "done"); });
  EXPECT_EQ(client.response().body, "done");
}

TEST(Limits, ConnectionsOverTheLimitGet503) {
  ServerOptions options;
  options.max_connections = 2;
  TestServer server(echo, options);
  RawClient a(server.port());
  RawClient b(server.port());
  ASSERT_TRUE(server.eventually([](const ServerStats& s) { return s.connections == 2; }));
  RawClient c(server.port());
  c.send(get("/"));
  const Response response = c.response();
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(error_code(response.body), "too_many_connections");
  EXPECT_TRUE(c.closed_within(kPatience));
  EXPECT_EQ(server.stats().refused_connections, 1u);
  c.close();
  a.close();
  ASSERT_TRUE(server.eventually([](const ServerStats& s) { return s.connections == 1; }));
  RawClient d(server.port());
  d.send(get("/d"));
  EXPECT_EQ(d.response().body, "GET /d ");
}

// Clients that keep what they do not use keep nobody out.
TEST(Limits, TheLongestIdleConnectionMakesRoomForANewOne) {
  ServerOptions options;
  options.max_connections = 3;
  options.idle_grace = Milliseconds(50);
  TestServer* self = nullptr;
  TestServer server(
      [&](const std::shared_ptr<Exchange>& exchange) {
        if (exchange->request().path == "/busy") return self->kept.push_back(exchange);
        echo(exchange);
      },
      options);
  self = &server;
  RawClient busy(server.port());
  busy.send(get("/busy"));
  RawClient old(server.port());
  ASSERT_TRUE(server.eventually([](const ServerStats& s) { return s.connections == 2; }));
  std::this_thread::sleep_for(Milliseconds(60));
  RawClient recent(server.port());
  recent.send(get("/recent"));
  ASSERT_EQ(recent.response().body, "GET /recent ");
  RawClient fresh(server.port());
  fresh.send(get("/fresh"));
  EXPECT_EQ(fresh.response().body, "GET /fresh ");
  EXPECT_TRUE(old.closed_within(kPatience));
  EXPECT_EQ(server.stats().evictions, 1u);
  recent.send(get("/again"));
  EXPECT_EQ(recent.response().body, "GET /again ");
  server.on_loop([&] { server.kept.at(0)->respond(200, "", "done"); });
  EXPECT_EQ(busy.response().body, "done");
}

TEST(Limits, LingeringEndsWithItsTimeout) {
  ServerOptions options;
  options.linger_timeout = Milliseconds(100);
  TestServer server(echo, options);
  RawClient client(server.port());
  client.send(get("/", "Connection: close\r\n"));
  EXPECT_EQ(client.response().status, 200);
  // This client never closes, yet the server lets go of it.
  EXPECT_TRUE(server.eventually([](const ServerStats& s) { return s.connections == 0; }));
}

// Lowers the limit on descriptors for a while.
class DescriptorLimit {
 public:
  DescriptorLimit() { ::getrlimit(RLIMIT_NOFILE, &before_); }
  ~DescriptorLimit() { restore(); }
  void set(rlim_t limit) {
    rlimit lower = before_;
    lower.rlim_cur = limit;
    ::setrlimit(RLIMIT_NOFILE, &lower);
  }
  void restore() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

int unconnected_socket() {
  return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

void connect_socket(int fd, uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
}

TEST(Limits, OutOfDescriptorsTurnsClientsAwayWith503AndRecovers) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP()
      << "the sanitizer checks addresses through pipes, for which there is no descriptor left";
#endif
  TestServer server(echo);
  DescriptorLimit limit;
  const int client = unconnected_socket();
  limit.set(static_cast<rlim_t>(client) + 1);
  std::vector<int> fillers;  // descriptors below the limit that were still free
  for (int fd; (fd = ::dup(client)) >= 0;) fillers.push_back(fd);
  connect_socket(client, server.port());
  std::string answer(4096, '\0');
  answer.resize(static_cast<size_t>(std::max<ssize_t>(::recv(client, answer.data(), 4096, 0), 0)));
  EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 503");
  ::close(client);
  for (const int fd : fillers) ::close(fd);
  limit.restore();
  RawClient next(server.port());
  next.send(get("/next"));
  EXPECT_EQ(next.response().body, "GET /next ");
}

TEST(Limits, WithoutEvenAReserveAcceptingRestsInsteadOfSpinning) {
  // Each attempt that fails is logged, and a rest of at least this long follows it.
  constexpr Milliseconds kLeastRest{50};
  std::atomic<int> rests{0};
  ServerOptions options;
  options.log = [&](std::string_view message) { rests += message.find("rests") != message.npos; };
  TestServer server(echo, options);
  const int client = unconnected_socket();
  {
    DescriptorLimit limit;
    limit.set(3);  // nothing can be opened at all
    const auto start = Clock::now();
    connect_socket(client, server.port());
    EXPECT_TRUE(server.eventually([&](const ServerStats&) { return rests >= 4; }));
    const int seen = rests;
    EXPECT_LE((seen - 1) * kLeastRest, Clock::now() - start)
        << "the loop spins on a socket it cannot accept from";
  }
  ::close(client);
  RawClient next(server.port());
  next.send(get("/next"));
  EXPECT_EQ(next.response().body, "GET /next ");
}

}  // namespace
}  // namespace halogen::http
