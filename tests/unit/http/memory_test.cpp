// Running out of memory costs a connection, never the server. Every allocation that the loop thread
// makes for a request is made to fail, one after the other.
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "tests/unit/http/fixture.h"

namespace {

// How many more allocations of this thread succeed before one fails; negative: all do.
thread_local int allowed = -1;
thread_local bool failed = false;

void* allocate(size_t bytes) {
  if (allowed >= 0 && allowed-- == 0) {
    failed = true;
    throw std::bad_alloc();
  }
  void* memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

#include "tests/unit/replaced_new.h"  // wants allocate()

namespace halogen::http {
namespace {

using namespace testing;  // NOLINT: the fixture's names

// Sends `request` over and over, the first allocation for it failing, then the second, until it
// needs none that fails. Whatever came of it, the server serves the next client.
void survives_every_failure(std::string_view request, ServerOptions options,
                            const Handler& handler) {
  options.linger_timeout = Milliseconds(10);
  TestServer server(handler, std::move(options));
  const std::string expected = [&] {
    RawClient client(server.port());
    client.send(request);
    return client.response().body;
  }();
  ASSERT_FALSE(expected.empty());
  int failures = 0;
  for (bool again = true; again; failures++) {
    ASSERT_LT(failures, 1000);
    server.on_loop([&] {
      failed = false;
      allowed = failures;
    });
    {
      RawClient client(server.port());
      client.send(request);
      client.end_writing();
      const Response response = client.response();
      client.read_to_end();
      server.on_loop([&] {
        allowed = -1;
        again = failed;
      });
      EXPECT_TRUE(again || (response.complete && response.body == expected));
    }
    RawClient next(server.port());
    next.send(request);
    ASSERT_EQ(next.response().body, expected) << "after failure " << failures;
  }
  EXPECT_GT(failures, 3);
  EXPECT_EQ(server.stats().requests_in_flight, 0u);
}

TEST(OutOfMemory, CostsARequestThatIsAnsweredAtOnce) {
  survives_every_failure(post("/path?query=a-value-that-is-not-short", std::string(300, 'b'),
                              "X-Header: another value that is not short\r\n"),
                         {}, echo);
}

TEST(OutOfMemory, CostsAStream) {
  survives_every_failure(get("/"), {}, [](const std::shared_ptr<Exchange>& exchange) {
    exchange->begin_stream(200, "text/plain", {{"X-Header", "a value that is not short"}});
    for (int i = 0; i < 20; i++) exchange->write("a piece of text that is not short either");
    exchange->end();
  });
}

TEST(OutOfMemory, CostsARequestThatIsRefused) {
  ServerOptions options;
  options.gate = [](const Request&) -> std::optional<Refusal> {
    return Refusal{401, "a_code_that_is_not_short", "a message that is not short", {}};
  };
  options.cors = *CorsPolicy::parse({"http://ui"});
  survives_every_failure(post("/", "body", "Origin: http://ui\r\n"), options, echo);
}

}  // namespace
}  // namespace halogen::http
