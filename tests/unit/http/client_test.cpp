// The blocking client, against our own server over IPv4 and IPv6.
#include "core/http/client.h"

#include <gtest/gtest.h>

#include "core/http/sse.h"
#include "tests/unit/http/fixture.h"

namespace halogen::http {
namespace {

using namespace testing;  // NOLINT: the fixture's names

TEST(Client, PostsAndReadsAWholeResponse) {
  TestServer server(echo);
  ClientRequest request;
  request.port = server.port();
  request.method = "POST";
  request.target = "/a";
  request.body = "b";
  auto response = http_request(request);
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "POST /a b");
  EXPECT_EQ(response->headers.get("content-type"), "text/plain");
}

TEST(Client, WorksOverIpv6) {
  ServerOptions options;
  options.host = "::1";
  auto loop = std::move(*Loop::create());
  auto server = Server::listen(*loop, options, echo);
  if (!server) GTEST_SKIP() << "no IPv6 here: " << server.error().message;
  std::thread thread([&] { loop->run(); });
  ClientRequest request;
  request.host = "::1";
  request.port = (*server)->port();
  auto response = http_request(request);
  loop->stop();
  thread.join();
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->body, "GET / ");
}

TEST(Client, HandsOnAStreamPieceByPiece) {
  TestServer server([](const std::shared_ptr<Exchange>& exchange) {
    exchange->begin_stream(200, kEventStream);
    exchange->write(sse_event("1"));
    exchange->write(kSseDone);
    exchange->end();
  });
  ClientRequest request;
  request.port = server.port();
  std::string seen;
  auto response = http_request(request, [&](std::string_view piece) {
    seen += piece;
    return true;
  });
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(seen, "data: 1\n\ndata: [DONE]\n\n");
  EXPECT_EQ(response->body, "");
}

TEST(Client, KeepsTheBodyOfAnErrorForItsCaller) {
  TestServer server([](const std::shared_ptr<Exchange>& exchange) {
    exchange->respond_error(404, "no such model", "model_not_found");
  });
  ClientRequest request;
  request.port = server.port();
  auto response = http_request(request, [](std::string_view) { return false; });
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->status, 404);
  EXPECT_EQ(error_code(response->body), "model_not_found");
}

TEST(Client, CancellingClosesTheConnection) {
  TestServer* self = nullptr;
  TestServer server([&](const std::shared_ptr<Exchange>& exchange) {
    exchange->begin_stream(200, "text/plain");
    exchange->write("first");
    self->kept.push_back(exchange);
  });
  self = &server;
  ClientRequest request;
  request.port = server.port();
  auto response = http_request(request, [](std::string_view) { return false; });
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().status, HALOGEN_E_CANCELLED);
  EXPECT_TRUE(server.eventually([](const ServerStats& s) { return s.disconnects == 1; }));
}

TEST(Client, GivesUpOnASilentServer) {
  TestServer* self = nullptr;
  TestServer server([&](const std::shared_ptr<Exchange>& e) { self->kept.push_back(e); });
  self = &server;
  ClientRequest request;
  request.port = server.port();
  request.timeout = Milliseconds(50);
  auto response = http_request(request);
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().status, HALOGEN_E_TIMEOUT);
}

TEST(Client, SaysThatNobodyListens) {
  ClientRequest request;
  {
    TestServer server(echo);
    request.port = server.port();
  }
  auto response = http_request(request);
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().status, HALOGEN_E_IO);
  EXPECT_NE(response.error().message.find(std::to_string(request.port)), std::string::npos);
}

TEST(Client, ReportsAStreamThatBreaksOff) {
  TestServer server([](const std::shared_ptr<Exchange>& exchange) {
    exchange->begin_stream(200, "text/plain");
    exchange->write("x");
    exchange->abort();
  });
  ClientRequest request;
  request.port = server.port();
  auto response = http_request(request);
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().status, HALOGEN_E_IO);
}

}  // namespace
}  // namespace halogen::http
