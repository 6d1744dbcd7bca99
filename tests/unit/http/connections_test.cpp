// Many connections, and hostile bytes.
#include <random>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/unit/http/fixture.h"

namespace halogen::http {
namespace {

using namespace testing;  // NOLINT: the fixture's names

void serve_beside_idle_connections(size_t count) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t needed = 2 * count + 200;  // both ends are in this process
  if (limit.rlim_max < needed) GTEST_SKIP() << "ulimit -n is below " << needed;
  limit.rlim_cur = std::max(limit.rlim_cur, needed);
  ::setrlimit(RLIMIT_NOFILE, &limit);

  TestServer server(echo);
  std::vector<RawClient> idle;
  idle.reserve(count);
  for (size_t i = 0; i < count; ++i) idle.emplace_back(server.port());
  ASSERT_TRUE(server.eventually([&](const ServerStats& s) { return s.connections == count; }));
  RawClient busy(server.port());
  for (int i = 0; i < 100; ++i) {
    busy.send(get("/busy"));
    ASSERT_EQ(busy.response().body, "GET /busy ");
  }
  for (size_t i = 0; i < count; i += 50) {  // and the idle ones still work
    idle[i].send(get("/idle"));
    ASSERT_EQ(idle[i].response().body, "GET /idle ");
  }
  idle.clear();
  EXPECT_TRUE(server.eventually([](const ServerStats& s) { return s.connections == 1; }));
  EXPECT_EQ(server.stats().accepted, count + 1);
}

TEST(Connections, AThousandIdle) {
  serve_beside_idle_connections(1000);
}

TEST(Connections, FiveThousandIdle) {
  serve_beside_idle_connections(5000);
}

// Random bytes, and valid requests with random bytes changed, cut at random places. The server must
// stay up, hold no connection back, and go on serving.
TEST(Connections, GarbageNeverCrashes) {
  TestServer server(echo);
  std::mt19937 random(20240607);
  const auto below = [&](size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(random);
  };
  const std::vector<std::string> seeds = {
      get("/a?b=c%20d", "X: y\r\nConnection: keep-alive\r\n"),
      post("/v1/x", R"({"model":"m"})", "Content-Type: application/json\r\n"),
      "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nT: "
      "1\r\n\r\n",
      "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\nbody"};
  for (int round = 0; round < 600; ++round) {
    std::string bytes;
    if (round % 3 == 0) {
      bytes.resize(1 + below(2000));
      for (char& c : bytes) c = static_cast<char>(below(256));
    } else {
      for (size_t i = 0; i <= below(4); ++i) bytes += seeds[below(seeds.size())];
      for (size_t i = 0; i < below(6); ++i) {
        bytes[below(bytes.size())] = static_cast<char>(below(256));
      }
      bytes.resize(1 + below(bytes.size()));
    }
    RawClient client(server.port());
    const size_t cut = below(bytes.size() + 1);
    client.send(std::string_view(bytes).substr(0, cut));
    client.send(std::string_view(bytes).substr(cut));
    client.end_writing();
    if (round % 2 == 0) client.read_to_end();  // the others leave without reading
  }
  EXPECT_TRUE(server.eventually([](const ServerStats& s) { return s.connections == 0; }));
  EXPECT_GT(server.stats().refused_requests, 100u);
  EXPECT_GT(server.stats().requests, 100u);
  EXPECT_EQ(server.stats().handler_errors, 0u);
  RawClient client(server.port());
  client.send(get("/alive"));
  EXPECT_EQ(client.response().body, "GET /alive ");
}

}  // namespace
}  // namespace halogen::http
