// Which pages may read responses, and that they can read errors too.
#include "core/http/cors.h"

#include <gtest/gtest.h>

#include "tests/unit/http/fixture.h"

namespace halogen::http {
namespace {

using namespace testing;  // NOLINT: the fixture's names

CorsPolicy policy(const std::vector<std::string>& entries) {
  auto parsed = CorsPolicy::parse(entries);
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  return parsed.ok() ? *parsed : CorsPolicy();
}

TEST(Cors, TakesOriginsExactly) {
  const CorsPolicy cors = policy({"https://Chat.example.org", "http://ui:3000"});
  EXPECT_TRUE(cors.allows("https://chat.example.org", "api"));
  EXPECT_TRUE(cors.allows("http://ui:3000", "api"));
  for (const char* other :
       {"http://chat.example.org", "https://chat.example.org:8443", "https://chat.example.org.evil",
        "https://evil-chat.example.org", "http://ui", "http://ui:30000", "null", ""}) {
    EXPECT_FALSE(cors.allows(other, "api")) << other;
  }
}

TEST(Cors, StarStandsForAPartOfAHostsName) {
  const CorsPolicy cors = policy({"https://*.example.org"});
  EXPECT_TRUE(cors.allows("https://chat.example.org", "api"));
  EXPECT_TRUE(cors.allows("https://a.b.example.org", "api"));
  for (const char* other :
       {"https://example.org", "https://.example.org", "https://chat.example.org:8443",
        "https://evil/x.example.org", "https://evil:1.example.org"}) {
    EXPECT_FALSE(cors.allows(other, "api")) << other;
  }
}

TEST(Cors, StarStandsForAnyPort) {
  const CorsPolicy cors = policy({"http://localhost:*", "http://[::1]:*"});
  EXPECT_TRUE(cors.allows("http://localhost", "api"));
  EXPECT_TRUE(cors.allows("http://localhost:5173", "api"));
  EXPECT_TRUE(cors.allows("http://[::1]:5173", "api"));
  EXPECT_TRUE(cors.allows("http://[::1]", "api"));
  EXPECT_FALSE(cors.allows("http://localhost:evil", "api"));
  EXPECT_FALSE(cors.allows("http://localhost.evil:80", "api"));
  EXPECT_FALSE(cors.allows("https://localhost:80", "api"));
}

TEST(Cors, SameHostIsTheHostOfTheRequestOnAnyPort) {
  const CorsPolicy cors = policy({"same-host"});
  EXPECT_TRUE(cors.allows("http://nas:3000", "nas:8080"));
  EXPECT_TRUE(cors.allows("https://NAS", "nas:8080"));
  EXPECT_TRUE(cors.allows("http://[fd00::1]:3000", "[fd00::1]:8080"));
  EXPECT_TRUE(cors.allows("http://192.0.2.7:3000", "192.0.2.7:8080"));
  EXPECT_TRUE(cors.allows("http://localhost:3000", "LocalHost:8080"));
  EXPECT_TRUE(cors.allows("http://nas.local:3000", "NAS.local:8080"));
  EXPECT_FALSE(cors.allows("http://other:8080", "nas:8080"));
  EXPECT_FALSE(cors.allows("null", ""));
}

// The page's owner makes its name point at this server after the page was loaded.
TEST(Cors, SameHostIsNoNameThatItsOwnerCanPointHere) {
  const CorsPolicy cors = policy({"same-host"});
  for (const char* host : {"evil.example", "evil.example.", "evil.local.example",
                           "127.0.0.1.evil.example", "127.0.0.1.", "1.2.3", ".local"}) {
    EXPECT_FALSE(cors.allows("http://" + std::string(host) + ":8080", std::string(host) + ":8080"))
        << host;
  }
  EXPECT_TRUE(policy({"same-host", "http://chat.example:*"})
                  .allows("http://chat.example:8080", "chat.example:8080"))
      << "the operator named it";
}

TEST(Cors, NullIsAllowedWhereItIsNamed) {
  EXPECT_TRUE(policy({"null"}).allows("null", "api"));
  EXPECT_TRUE(policy({"*"}).allows("null", "api"));
}

TEST(Cors, RefusesWhatIsNoOrigin) {
  for (const char* entry :
       {"chat.example.org", "https://", "https://a/", "https://a/path", "https://a:port",
        "http://a b", "", "same_host", "://a", "https://*.*.example", "https://a**b:*", "*://a"}) {
    const auto parsed = CorsPolicy::parse({entry});
    ASSERT_FALSE(parsed.ok()) << entry;
    EXPECT_NE(parsed.error().message.find("\"" + std::string(entry) + "\""), std::string::npos);
  }
}

ServerOptions with_origins(const std::vector<std::string>& entries) {
  ServerOptions options;
  options.cors = policy(entries);
  return options;
}

TEST(Cors, NothingIsSentByDefault) {
  TestServer server(echo);
  RawClient client(server.port());
  client.send(get("/", "Origin: http://ui\r\n"));
  const Response response = client.response();
  EXPECT_EQ(response.header("access-control-allow-origin"), "");
  EXPECT_EQ(response.header("vary"), "");
}

TEST(Cors, AnswersNameTheOriginTheyAreFor) {
  TestServer server(echo, with_origins({"http://ui"}));
  RawClient client(server.port());
  client.send(get("/", "Origin: http://ui\r\n") + get("/", "Origin: http://evil\r\n") + get("/"));
  const Response allowed = client.response();
  EXPECT_EQ(allowed.header("access-control-allow-origin"), "http://ui");
  EXPECT_EQ(allowed.header("access-control-expose-headers"), "Retry-After");
  EXPECT_EQ(allowed.header("access-control-allow-credentials"), "");
  EXPECT_EQ(allowed.header("vary"), "Origin");
  const Response stranger = client.response();
  EXPECT_EQ(stranger.status, 200) << "CORS protects the reader, not the server";
  EXPECT_EQ(stranger.header("access-control-allow-origin"), "");
  EXPECT_EQ(client.response().header("vary"), "Origin");
}

// A browser asks first, except where a POST could be that of a form: with text/plain it is sent.
TEST(Cors, PostOfAPageThatIsNotAllowedIsRefused) {
  for (const bool nobody : {true, false}) {
    ServerOptions options = nobody ? ServerOptions() : with_origins({"http://ui"});
    options.gate = [](const Request& request) -> std::optional<Refusal> {
      if (request.path != "/guarded") return std::nullopt;
      return Refusal{401, "no_key", "a key is needed", {}};
    };
    TestServer server(echo, options);
    RawClient client(server.port());
    client.send(post("/", "stolen", "Origin: http://evil\r\nContent-Type: text/plain\r\n"));
    const Response refused = client.response();
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(error_code(refused.body), "origin_not_allowed");
    client.send(post("/", "b", "Origin: null\r\n"));
    EXPECT_EQ(client.response().status, 403);
    client.send(post("/", "b", "Origin: http://ui\r\n"));
    EXPECT_EQ(client.response().status, nobody ? 403 : 200);
    client.send(post("/", "b"));
    EXPECT_EQ(client.response().status, 200) << "no browser sends a POST without its origin";
    client.send(post("/guarded", "b"));
    EXPECT_EQ(client.response().status, 401);
  }
  TestServer open(echo, with_origins({"*"}));
  RawClient client(open.port());
  client.send(post("/", "b", "Origin: http://anything\r\n"));
  EXPECT_EQ(client.response().status, 200);
}

TEST(Cors, EverybodyIsSentAStarAndNoCredentials) {
  TestServer server(echo, with_origins({"*"}));
  RawClient client(server.port());
  client.send(get("/", "Origin: http://anything\r\n"));
  const Response response = client.response();
  EXPECT_EQ(response.header("access-control-allow-origin"), "*");
  EXPECT_EQ(response.header("access-control-allow-credentials"), "");
  EXPECT_EQ(response.header("vary"), "");
}

TEST(Cors, PreflightAllowsWhatIsAskedFor) {
  TestServer server([](const auto& exchange) { exchange->respond(204, "", ""); },
                    with_origins({"http://ui"}));
  RawClient client(server.port());
  const std::string question =
      "Access-Control-Request-Method: POST\r\n"
      "Access-Control-Request-Headers: authorization,x-stainless-os\r\n"
      "Access-Control-Request-Private-Network: true\r\n\r\n";
  client.send("OPTIONS /v1 HTTP/1.1\r\nHost: t\r\nOrigin: http://ui\r\n" + question +
              "OPTIONS /v1 HTTP/1.1\r\nHost: t\r\nOrigin: http://evil\r\n" + question);
  const Response allowed = client.response();
  EXPECT_EQ(allowed.header("access-control-allow-origin"), "http://ui");
  EXPECT_EQ(allowed.header("access-control-allow-methods"), "GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(allowed.header("access-control-allow-headers"), "authorization,x-stainless-os");
  EXPECT_EQ(allowed.header("access-control-allow-private-network"), "true");
  EXPECT_EQ(allowed.header("access-control-max-age"), "7200");
  const Response stranger = client.response();
  EXPECT_EQ(stranger.header("access-control-allow-origin"), "");
  EXPECT_EQ(stranger.header("access-control-allow-headers"), "");
}

// A browser hides an error without the field from its page, which then can only say "failed".
TEST(Cors, ErrorsOfTheServerItselfAreReadableToo) {
  ServerOptions options = with_origins({"http://ui"});
  options.header_timeout = options.body_timeout = Milliseconds(100);
  options.header_limit = 1000;
  TestServer server(echo, options);
  const std::string origin = "Host: t\r\nOrigin: http://ui\r\n";
  for (const auto& [request, status] : std::vector<std::pair<std::string, int>>{
           {"GET /%zz HTTP/1.1\r\n" + origin + "\r\n", 400},
           {"POST / HTTP/1.1\r\n" + origin + "Content-Length: x\r\n\r\n", 400},
           {"POST / HTTP/1.1\r\n" + origin + "Content-Length: 9\r\n\r\nabc", 408},
           {"POST / HTTP/1.1\r\n" + origin + "Content-Length: 99999999999\r\n\r\n", 413},
           {"GET / HTTP/1.1\r\n" + origin + "X: " + std::string(1000, 'x') + "\r\n\r\n", 431},
           {"POST / HTTP/1.1\r\n" + origin + "Transfer-Encoding: gzip\r\n\r\n", 501}}) {
    RawClient client(server.port());
    client.send(request);
    const Response response = client.response();
    EXPECT_EQ(response.status, status);
    EXPECT_EQ(response.header("access-control-allow-origin"), "http://ui") << status;
  }
}

}  // namespace
}  // namespace halogen::http
