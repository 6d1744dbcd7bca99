// A small blocking HTTP/1.1 client for our own command line and tests: one request, one connection,
// no TLS, no redirects. [worker]
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/http/exchange.h"

namespace halogen::http {

struct ClientRequest {
  std::string host = "127.0.0.1";
  uint16_t port = 8080;
  std::string method = "GET";
  std::string target = "/";  // percent-encoded path and query
  std::string body;          // sent with Content-Length unless empty
  std::vector<Header> headers;
  // For connecting, and then the longest silence of the server: a stream may take as long as it
  // likes.
  std::chrono::milliseconds timeout{30'000};
};

struct ClientResponse {
  int status = 0;
  HeaderMap headers;
  std::string body;  // empty when a consumer took it; the reason when status is not 2xx
};

// Receives the body of a successful (2xx) response in pieces as they arrive, with the chunked
// coding removed; false cancels, which closes the connection. Must not throw.
using BodyConsumer = std::function<bool(std::string_view)>;

// Returns any complete response, whatever its status. Fails with TIMEOUT, CANCELLED, or IO for a
// server that cannot be reached, breaks off, or does not speak HTTP.
Result<ClientResponse> http_request(const ClientRequest& request, const BodyConsumer& consume = {});

}  // namespace halogen::http
