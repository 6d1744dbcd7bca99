// HTTP/1.1 as it crosses the wire.
#include <stdexcept>

#include <gtest/gtest.h>

#include "tests/unit/http/fixture.h"

namespace halogen::http {
namespace {

using namespace testing;  // NOLINT: the fixture's names

TEST(Protocol, GivesTheHandlerTheWholeRequest) {
  Request seen;
  TestServer server([&](const std::shared_ptr<Exchange>& exchange) {
    seen = exchange->request();
    exchange->respond(201, "application/json", "{}", {{"X-One", "1"}, {"X-Two", "a\r\nX-Evil: b"}});
  });
  RawClient client(server.port());
  client.send(post("/v1/chat%20x?stream=true", "hello",
                   "Content-Type: text/plain\r\nX-Empty:\r\nX-A: b\r\n"));
  const Response response = client.response();
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(response.body, "{}");
  EXPECT_EQ(response.header("content-type"), "application/json");
  EXPECT_EQ(response.header("content-length"), "2");
  EXPECT_EQ(response.header("x-one"), "1");
  EXPECT_EQ(response.header("x-two"), "a  X-Evil: b") << "a header value must not start a new line";
  EXPECT_EQ(response.header("connection"), "");
  EXPECT_EQ(response.header("date").size(), std::string("Sun, 06 Nov 1994 08:49:37 GMT").size());
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.path, "/v1/chat x");
  EXPECT_EQ(seen.query_value("stream"), "true");
  EXPECT_EQ(seen.headers.get("content-type"), "text/plain");
  EXPECT_TRUE(seen.headers.contains("x-empty"));
  EXPECT_EQ(seen.headers.get("x-empty"), "");
  EXPECT_EQ(seen.headers.get("x-a"), "b");
  EXPECT_EQ(seen.body, "hello");
  EXPECT_EQ(seen.peer.substr(0, 10), "127.0.0.1:");
}

TEST(Protocol, KeepsTheConnectionForTheNextRequest) {
  TestServer server(echo);
  RawClient client(server.port());
  for (int i = 0; i < 3; ++i) {
    client.send(post("/" + std::to_string(i), "b"));
    EXPECT_EQ(client.response().body, "POST /" + std::to_string(i) + " b");
  }
  EXPECT_EQ(server.stats().accepted, 1u);
  EXPECT_EQ(server.stats().requests, 3u);
}

TEST(Protocol, TakesARequestOneByteAtATime) {
  TestServer server(echo);
  RawClient client(server.port());
  const std::string request =
      "POST /slow HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: "
      "chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
  for (const char c : request) {
    client.send({&c, 1});
    std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
  EXPECT_EQ(client.response().body, "POST /slow hello");
}

TEST(Protocol, AnswersAHundredPipelinedRequestsInOrder) {
  TestServer server(echo);
  RawClient client(server.port());
  std::string all;
  for (int i = 0; i < 100; ++i) {
    if (i % 3 == 0) {
      all += "POST /" + std::to_string(i) +
             " HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: "
             "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    } else {
      all += post("/" + std::to_string(i), "abcde");
    }
  }
  client.send(all);
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(client.response().body, "POST /" + std::to_string(i) + " abcde");
  }
}

// The second request is answered at once, the first later: the order on the wire must not change.
TEST(Protocol, PipelinedRequestsWaitForALateResponse) {
  std::vector<std::string> order;
  TestServer* self = nullptr;
  TestServer server([&](const std::shared_ptr<Exchange>& exchange) {
    order.push_back(exchange->request().path);
    if (exchange->request().path == "/late") {
      self->kept.push_back(exchange);
    } else {
      echo(exchange);
    }
  });
  self = &server;
  RawClient client(server.port());
  client.send(get("/late") + get("/next") + get("/last"));
  ASSERT_TRUE(server.eventually([](const ServerStats& s) { return s.requests_in_flight == 1; }));
  EXPECT_EQ(server.stats().requests, 1u) << "the next request must wait";
  server.on_loop([&] { server.kept[0]->respond(200, "text/plain", "late"); });
  EXPECT_EQ(client.response().body, "late");
  EXPECT_EQ(client.response().body, "GET /next ");
  EXPECT_EQ(client.response().body, "GET /last ");
  EXPECT_EQ(order, (std::vector<std::string>{"/late", "/next", "/last"}));
}

// More is pipelined than the server reads ahead; nothing may be lost or reordered.
TEST(Protocol, PipeliningBeyondTheReadAheadLimitLosesNothing) {
  ServerOptions options;
  options.pipeline_limit = 1024;
  options.write_buffer_limit = 4096;
  TestServer* self = nullptr;
  TestServer server(
      [&](const std::shared_ptr<Exchange>& exchange) {
        self->loop().post([exchange] { echo(exchange); });
      },
      options);
  self = &server;
  RawClient client(server.port());
  const std::string body(3000, 'x');
  std::thread sender([&] {
    for (int i = 0; i < 300; ++i) client.send(post("/" + std::to_string(i), body));
  });
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(client.response().body, "POST /" + std::to_string(i) + " " + body);
  }
  sender.join();
}

TEST(Protocol, JoinsChunkedBodiesAndDropsExtensionsAndTrailers) {
  size_t headers = 0;
  TestServer server([&](const std::shared_ptr<Exchange>& exchange) {
    headers = exchange->request().headers.size();
    echo(exchange);
  });
  RawClient client(server.port());
  client.send(
      "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3;name=value\r\nabc\r\nA\r\n0123456789\r\n0\r\nX-Trailer: 1\r\n\r\n");
  EXPECT_EQ(client.response().body, "POST / abc0123456789");
  EXPECT_EQ(headers, 2u);
  client.send(get("/again"));
  EXPECT_EQ(client.response().body, "GET /again ");
}

TEST(Protocol, InvitesTheBodyOfAClientThatExpects100) {
  TestServer server(echo);
  RawClient client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.response().status, 100);
  client.send("body");
  EXPECT_EQ(client.response().body, "POST / body");
}

TEST(Protocol, DoesNotInviteABodyThatIsThereOrTooLarge) {
  ServerOptions options;
  options.body_limit = 10;
  TestServer server(echo, options);
  RawClient eager(server.port());
  eager.send(post("/", "body", "Expect: 100-continue\r\n"));
  EXPECT_EQ(eager.response().status, 200);
  RawClient large(server.port());
  large.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(large.response().status, 413);
  RawClient odd(server.port());
  odd.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 1\r\nExpect: miracles\r\n\r\n");
  const Response unexpected = odd.response();
  EXPECT_EQ(unexpected.status, 417);
  EXPECT_EQ(unexpected.header("connection"), "close") << "the body may come or not";
}

TEST(Protocol, HeadGetsTheHeadersOfGetAndNoBody) {
  TestServer server([](const std::shared_ptr<Exchange>& exchange) {
    if (exchange->request().path == "/stream") {
      exchange->begin_stream(200, "text/plain");
      EXPECT_EQ(exchange->write("never seen"), Flow::open);
      exchange->end();
    } else {
      exchange->respond(200, "text/plain", "12345");
    }
  });
  RawClient client(server.port());
  client.send("HEAD / HTTP/1.1\r\nHost: t\r\n\r\nHEAD /stream HTTP/1.1\r\nHost: t\r\n\r\n" +
              get("/"));
  EXPECT_EQ(client.response(true).header("content-length"), "5");
  EXPECT_EQ(client.response(true).header("transfer-encoding"), "chunked");
  EXPECT_EQ(client.response().body, "12345");
}

TEST(Protocol, OptionsReachesTheHandler) {
  TestServer server(echo);
  RawClient client(server.port());
  client.send(
      "OPTIONS /v1/models HTTP/1.1\r\nHost: t\r\n\r\nOPTIONS * HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_EQ(client.response().body, "OPTIONS /v1/models ");
  EXPECT_EQ(client.response().body, "OPTIONS * ");
}

TEST(Protocol, NoContentHasNeitherBodyNorLength) {
  TestServer server([](const std::shared_ptr<Exchange>& exchange) {
    exchange->respond(exchange->request().path == "/204" ? 204 : 200, "", "x");
  });
  RawClient client(server.port());
  client.send(get("/204") + get("/200"));
  const Response empty = client.response();
  EXPECT_EQ(empty.status, 204);
  EXPECT_EQ(empty.header("content-length"), "");
  EXPECT_EQ(client.response().body, "x");
}

TEST(Protocol, Http10ClosesUnlessAskedToKeep) {
  TestServer server(echo);
  RawClient client(server.port());
  client.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const Response kept = client.response();
  EXPECT_EQ(kept.body, "GET /a ");
  EXPECT_EQ(kept.header("connection"), "keep-alive");
  client.send("GET /b HTTP/1.0\r\n\r\n");
  const Response last = client.response();
  EXPECT_EQ(last.body, "GET /b ");
  EXPECT_EQ(last.header("connection"), "close");
  EXPECT_TRUE(client.closed_within(kPatience));
}

TEST(Protocol, Http10StreamEndsWithTheConnection) {
  TestServer server([](const std::shared_ptr<Exchange>& exchange) {
    exchange->begin_stream(200, "text/plain");
    exchange->write("one ");
    exchange->write("two");
    exchange->end();
  });
  RawClient client(server.port());
  client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const Response response = client.response();
  EXPECT_EQ(response.header("transfer-encoding"), "");
  EXPECT_EQ(response.header("connection"), "close");
  EXPECT_EQ(response.body, "one two");
  EXPECT_TRUE(response.complete);
}

TEST(Protocol, ConnectionCloseClosesAfterTheResponse) {
  TestServer server(echo);
  RawClient client(server.port());
  client.send(get("/", "Connection: close\r\n") + get("/ignored"));
  const Response response = client.response();
  EXPECT_EQ(response.body, "GET / ");
  EXPECT_EQ(response.header("connection"), "close");
  EXPECT_TRUE(client.closed_within(kPatience));
  EXPECT_EQ(server.stats().requests, 1u);
}

TEST(Protocol, AnswersAClientThatHalfClosesAfterAskingWhenTheAnswerIsReady) {
  TestServer server([](const std::shared_ptr<Exchange>& exchange) {
    exchange->respond(200, "text/plain", std::string(3 << 20, 'z'));
  });
  RawClient client(server.port());
  client.send(get("/"));
  client.end_writing();
  EXPECT_EQ(client.response().body.size(), 3u << 20);
  EXPECT_TRUE(client.closed_within(Milliseconds(900)))
      << "a client that has ended is not waited for";
}

TEST(Protocol, IgnoresAnOfferToUpgrade) {
  TestServer server(echo);
  RawClient client(server.port());
  client.send(
      get("/a", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n") +
      get("/b"));
  EXPECT_EQ(client.response().body, "GET /a ");
  EXPECT_EQ(client.response().body, "GET /b ");
}

struct RefusalCase {
  const char* name;
  const char* request;
  int status;
  const char* code;
};

// Where the next request begins is unknown.
class Refused : public ::testing::TestWithParam<RefusalCase> {};

TEST_P(Refused, WithAJsonErrorAndAClose) {
  TestServer server(echo);
  RawClient client(server.port());
  client.send(GetParam().request);
  const Response response = client.response();
  EXPECT_EQ(response.status, GetParam().status);
  EXPECT_EQ(error_code(response.body), GetParam().code);
  EXPECT_EQ(response.header("connection"), "close");
  EXPECT_EQ(response.header("content-type"), "application/json");
  EXPECT_TRUE(client.closed_within(kPatience));
  EXPECT_EQ(server.stats().refused_requests, 1u);
  EXPECT_EQ(server.stats().requests, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Protocol, Refused,
    ::testing::Values(
        RefusalCase{"Garbage", "garbage\r\n\r\n", 400, "malformed_request"},
        RefusalCase{"BadHeader", "GET / HTTP/1.1\r\nHost: t\r\nbad header\r\n\r\n", 400,
                    "malformed_request"},
        RefusalCase{"BadLength", "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: -1\r\n\r\n", 400,
                    "malformed_request"},
        RefusalCase{"BadChunk",
                    "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400,
                    "malformed_request"},
        RefusalCase{"LengthAndChunked",
                    "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\nTransfer-Encoding: "
                    "chunked\r\n\r\n",
                    400, "malformed_request"},
        RefusalCase{"TwoLengths",
                    "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n",
                    400, "malformed_request"},
        RefusalCase{"LengthList", "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 5, 5\r\n\r\nabcde",
                    400, "malformed_request"},
        RefusalCase{
            "SameLengthTwice",
            "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nabcde",
            400, "malformed_request"},
        RefusalCase{"SignedLength", "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: +5\r\n\r\nabcde",
                    400, "malformed_request"},
        RefusalCase{"LengthOverflow",
                    "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 18446744073709551617\r\n\r\n",
                    400, "malformed_request"},
        RefusalCase{
            "ChunkedTwice",
            "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
            "chunked\r\n\r\n0\r\n\r\n",
            400, "malformed_request"},
        RefusalCase{"ChunkSizeOverflow",
                    "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: "
                    "chunked\r\n\r\n10000000000000000\r\n",
                    400, "malformed_request"},
        RefusalCase{"ChunkLongerThanItSays",
                    "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: "
                    "chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
                    400, "malformed_request"},
        RefusalCase{
            "ChunkLineFeedAlone",
            "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n",
            400, "malformed_request"},
        RefusalCase{"LineFeedsAlone", "GET / HTTP/1.1\nHost: t\n\n", 400, "malformed_request"},
        RefusalCase{"BlankLineFeedAlone", "GET / HTTP/1.1\r\nHost: t\r\n\n", 400,
                    "malformed_request"},
        RefusalCase{"CarriageReturnAlone", "GET / HTTP/1.1\r\nHost: t\rX: y\r\n\r\n", 400,
                    "malformed_request"},
        RefusalCase{"HeaderBehindACarriageReturn",
                    "POST / HTTP/1.1\r\nHost: t\r\nX:\rTransfer-Encoding: chunked\r\n\r\n"
                    "0\r\n\r\n",
                    400, "malformed_request"},
        RefusalCase{"LetterBehindACarriageReturn", "GET / HTTP/1.1\r\nHost: t\r\nX:\rqY: z\r\n\r\n",
                    400, "malformed_request"},
        RefusalCase{"RequestBehindACarriageReturn", "\r\n\rGET / HTTP/1.1\r\nHost: t\r\n\r\n", 400,
                    "malformed_request"},
        RefusalCase{"EndBehindACarriageReturn", "GET / HTTP/1.1\r\nHost: t\r\n\rq", 400,
                    "malformed_request"},
        RefusalCase{"ChunkThatEndsWithOtherBytes",
                    "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"
                    "1\r\naXX0\r\n\r\n",
                    400, "malformed_request"},
        RefusalCase{"ChunkSizeCarriageReturnAlone",
                    "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"
                    "1\rqa\r\n0\r\n\r\n",
                    400, "malformed_request"},
        RefusalCase{"FoldedTrailer",
                    "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"
                    "0\r\nA: b\r\n c\r\n\r\n",
                    400, "malformed_request"},
        RefusalCase{"TrailerLineFeedAlone",
                    "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"
                    "0\r\nA: b\n\r\n",
                    400, "malformed_request"},
        RefusalCase{"TrailersEndWithALineFeedAlone",
                    "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\n", 400,
                    "malformed_request"},
        RefusalCase{"TrailersEndWithACarriageReturnAlone",
                    "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\rq", 400,
                    "malformed_request"},
        RefusalCase{"FoldedHeader", "GET / HTTP/1.1\r\nHost: t\r\nX: a\r\n b\r\n\r\n", 400,
                    "malformed_request"},
        RefusalCase{"FoldedEmptyHeader", "GET / HTTP/1.1\r\nHost: t\r\nX:\r\n\tb\r\n\r\n", 400,
                    "malformed_request"},
        RefusalCase{"BlankBeforeTheColon",
                    "POST / HTTP/1.1\r\nHost: t\r\nContent-Length : 3\r\n\r\nabc", 400,
                    "malformed_request"},
        RefusalCase{"HeaderWithoutAName", "GET / HTTP/1.1\r\nHost: t\r\n: x\r\n\r\n", 400,
                    "malformed_request"},
        RefusalCase{"ControlCharacter", "GET / HTTP/1.1\r\nHost: t\r\nX: a\x01z\r\n\r\n", 400,
                    "malformed_request"},
        RefusalCase{"TlsHandshake", "\x16\x03\x01\x02\x01\x01\x01\x01\xfc\x03\x03", 400,
                    "malformed_request"},
        RefusalCase{"UnknownMethod", "BREW /pot HTTP/1.1\r\nHost: t\r\n\r\n", 501,
                    "method_not_supported"},
        RefusalCase{"Gzip", "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: gzip\r\n\r\n", 501,
                    "unsupported_transfer_encoding"},
        RefusalCase{"GzipChunked",
                    "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501,
                    "unsupported_transfer_encoding"},
        RefusalCase{"ChunkedInHttp10", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400,
                    "invalid_transfer_encoding"},
        RefusalCase{"Connect", "CONNECT a:1 HTTP/1.1\r\nHost: t\r\n\r\n", 501,
                    "method_not_supported"},
        RefusalCase{"Http2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "http_version_not_supported"},
        RefusalCase{"Http3", "GET / HTTP/3.0\r\nHost: t\r\n\r\n", 505,
                    "http_version_not_supported"}),
    [](const auto& refusal) { return refusal.param.name; });

// A NUL, which no C string shows.
TEST(Protocol, RefusesNulWhereverItIs) {
  TestServer server(echo);
  for (const char* place :
       {"GET /@ HTTP/1.1\r\nHost: t\r\n\r\n", "GET / HTTP/1.1\r\nHost: t\r\nX@: y\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: t\r\nX: y@z\r\n\r\n"}) {
    std::string request = place;
    request[request.find('@')] = '\0';
    RawClient client(server.port());
    client.send(request);
    EXPECT_EQ(client.response().status, 400) << place;
    EXPECT_TRUE(client.closed_within(kPatience)) << place;
  }
}

// The request is wrong, but where it ends is certain.
class RefusedAlone : public ::testing::TestWithParam<RefusalCase> {};

TEST_P(RefusedAlone, AndTheConnectionGoesOn) {
  ServerOptions options;
  options.body_limit = 10;
  options.gate = [](const Request& request) -> std::optional<Refusal> {
    if (request.path != "/guarded") return std::nullopt;
    return Refusal{401, "no_key", "a key is needed", {{"WWW-Authenticate", "Bearer"}}};
  };
  TestServer server(echo, options);
  for (const bool at_once : {true, false}) {
    RawClient client(server.port());
    const std::string request = GetParam().request;
    if (at_once) {
      client.send(request + get("/next"));
    } else {
      for (const char& c : request) client.send({&c, 1});
      client.send(get("/next"));
    }
    const Response response = client.response(request.starts_with("HEAD"));
    EXPECT_EQ(response.status, GetParam().status);
    EXPECT_EQ(response.header("connection"), "");
    if (!request.starts_with("HEAD")) {
      EXPECT_EQ(error_code(response.body), GetParam().code);
    }
    EXPECT_EQ(response.header("www-authenticate"), response.status == 401 ? "Bearer" : "");
    EXPECT_EQ(client.response().body, "GET /next ");
  }
  EXPECT_EQ(server.stats().refused_requests, 2u);
}

INSTANTIATE_TEST_SUITE_P(
    Protocol, RefusedAlone,
    ::testing::Values(
        RefusalCase{"NoHost", "GET / HTTP/1.1\r\n\r\n", 400, "invalid_host"},
        RefusalCase{"TwoHosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400,
                    "invalid_host"},
        RefusalCase{"HostThatIsNone", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "invalid_host"},
        RefusalCase{"BadEscape", "GET /%zz HTTP/1.1\r\nHost: t\r\n\r\n", 400, "invalid_url"},
        RefusalCase{"EscapedNul", "GET /%00 HTTP/1.1\r\nHost: t\r\n\r\n", 400, "invalid_url"},
        RefusalCase{"BadUrlWithBody",
                    "POST /%zz HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n\r\nabc", 400,
                    "invalid_url"},
        RefusalCase{"Expectation", "GET / HTTP/1.1\r\nHost: t\r\nExpect: miracles\r\n\r\n", 417,
                    "expectation_failed"},
        RefusalCase{"BodyALittleTooLarge",
                    "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 11\r\n\r\n01234567890", 413,
                    "body_too_large"},
        RefusalCase{"Gate", "GET /guarded HTTP/1.1\r\nHost: t\r\n\r\n", 401, "no_key"},
        RefusalCase{"GateToHead", "HEAD /guarded HTTP/1.1\r\nHost: t\r\n\r\n", 401, "no_key"},
        RefusalCase{"GateWithBody",
                    "POST /guarded HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n\r\nabc", 401,
                    "no_key"},
        RefusalCase{"GateWithChunkedBody",
                    "POST /guarded HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: "
                    "chunked\r\n\r\n3\r\nabc\r\n0\r\nT: x\r\n\r\n",
                    401, "no_key"}),
    [](const auto& refusal) { return refusal.param.name; });

// Reading a long body only to forget it helps nobody.
TEST(Protocol, RefusesALongBodyWithoutReadingItToItsEnd) {
  ServerOptions options;
  options.gate = [](const Request&) -> std::optional<Refusal> {
    return Refusal{401, "no_key", "a key is needed", {}};
  };
  TestServer server(echo, options);
  RawClient announced(server.port());
  announced.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 1000000\r\n\r\n");
  EXPECT_EQ(announced.response().header("connection"), "close");
  RawClient chunked(server.port());
  chunked.send("POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\nF4240\r\n");
  EXPECT_EQ(chunked.response().status, 401);
  EXPECT_TRUE(chunked.closed_within(kPatience));
}

TEST(Protocol, InvitesNoBodyThatTheGateRefuses) {
  ServerOptions options;
  options.gate = [](const Request& request) -> std::optional<Refusal> {
    if (request.headers.contains("X-Key")) return std::nullopt;
    return Refusal{401, "no_key", "a key is needed", {}};
  };
  TestServer server(echo, options);
  const std::string head =
      "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\nExpect: 100-continue\r\n";
  RawClient without(server.port());
  without.send(head + "\r\n");
  const Response refused = without.response();
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(refused.header("connection"), "close");
  EXPECT_TRUE(without.closed_within(kPatience));
  RawClient with(server.port());
  with.send(head + "X-Key: k\r\n\r\n");
  EXPECT_EQ(with.response().status, 100);
  with.send("body");
  EXPECT_EQ(with.response().body, "POST / body");
}

TEST(Protocol, HandlerThatThrowsAnswers500AndServesOn) {
  std::string logged;
  ServerOptions options;
  options.log = [&](std::string_view message) { logged = message; };
  TestServer server(
      [](const std::shared_ptr<Exchange>& exchange) {
        if (exchange->request().path == "/throw") throw std::runtime_error("secret reason");
        if (exchange->request().path == "/stream") {
          exchange->begin_stream(200, "text/plain");
          throw 1;  // NOLINT: any type may come
        }
        echo(exchange);
      },
      options);
  RawClient client(server.port());
  client.send(get("/throw") + get("/fine"));
  const Response response = client.response();
  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(error_code(response.body), "internal_error");
  EXPECT_EQ(response.body.find("secret"), std::string::npos);
  EXPECT_EQ(client.response().body, "GET /fine ");
  EXPECT_NE(logged.find("secret reason"), std::string::npos);
  client.send(get("/stream"));
  EXPECT_FALSE(client.response().complete) << "a broken stream must not look finished";
  EXPECT_EQ(server.stats().handler_errors, 2u);
}

TEST(Protocol, ListenSaysWhyItCannot) {
  auto loop = std::move(*Loop::create());
  ServerOptions options;
  auto first = Server::listen(*loop, options, echo);
  ASSERT_TRUE(first.ok());
  options.port = (*first)->port();
  auto second = Server::listen(*loop, options, echo);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().status, HALOGEN_E_BUSY);
  EXPECT_NE(second.error().message.find("port " + std::to_string(options.port)), std::string::npos);
  options.host = "256.0.0.1";
  EXPECT_EQ(Server::listen(*loop, options, echo).error().status, HALOGEN_E_INVALID);
}

}  // namespace
}  // namespace halogen::http
