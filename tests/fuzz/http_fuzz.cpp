// Bytes: what a client sends on one connection. It is sent in one piece, then, on another
// connection, cut into pieces at places that follow from the bytes: the server must hand the same
// requests to its handler and send the same answers.
#include <algorithm>
#include <cctype>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/loopback.h"

namespace {

using namespace halogen;

// What the handler saw, and what the server said.
struct Conversation {
  std::vector<std::string> requests;  // "GET /path 12 bytes, hash"
  std::string wire;                   // without what depends on the time of day or of arrival
  uint64_t refused = 0;
  bool aborted = false;
};

Conversation* current = nullptr;
fuzz::Loopback* server = nullptr;

std::string describe(const http::Request& request) {
  std::string all = request.target + "\n" + request.body;
  for (size_t i = 0; i < request.headers.size(); i++) {
    const auto [name, value] = request.headers.at(i);
    all.append("\n").append(name).append(":").append(value);
  }
  for (const auto& [name, value] : request.query)
    all.append("\n").append(name).append("=").append(value);
  return std::string(request.method) + " " + std::to_string(request.body.size()) + " bytes, " +
         std::to_string(fuzz::Choices(all).below(1U << 30U));
}

// Answers in each way that there is, as the request's own bytes decide.
void handle(const std::shared_ptr<http::Exchange>& exchange) {
  const http::Request& request = exchange->request();
  const std::string seen = describe(request);
  current->requests.push_back(seen);
  switch (fuzz::Choices(request.path).below(8)) {
    case 0:  // a stream at once
      exchange->begin_stream(200, "text/plain");
      exchange->write(seen);
      exchange->write(seen);
      return exchange->end();
    case 1:  // an answer in the next round
      return server->loop().post([exchange, seen] { exchange->respond(200, "text/plain", seen); });
    case 2:  // a stream over two rounds
      exchange->begin_stream(200, "text/plain", {{"X-Seen", seen}});
      exchange->write("begin ");
      return server->loop().post([exchange, seen] {
        exchange->write(seen);
        exchange->end();
      });
    case 3:  // nothing: the server answers 500 itself
      return;
    case 4:
      return exchange->respond_error(404, "nothing at " + request.path, "not_found");
    case 5:
      return exchange->respond(204, "", "");
    case 6:
      if (request.path.size() % 4 == 0) {
        current->aborted = true;
        return exchange->abort();
      }
      throw std::runtime_error("the handler failed");
    default:
      return exchange->respond(200, "text/plain", seen);
  }
}

void erase_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;) {
    text.erase(at, text.find(to, at) + to.size() - at);
  }
}

// What must not depend on the pieces. Of several mistakes in the request that ends a connection,
// the one that is named may: it is the first that is seen.
std::string_view comparable(const Conversation& conversation) {
  const std::string_view wire = conversation.wire;
  if (conversation.refused == 0) return wire;
  // A message may say "HTTP/1.1 " too; only a status line goes on with a number.
  size_t last = wire.rfind("HTTP/1.1 ");
  while (last > 0 && last != wire.npos && !std::isdigit(static_cast<unsigned char>(wire[last + 9])))
    last = wire.rfind("HTTP/1.1 ", last - 1);
  return wire.substr(0, last);
}

Conversation talk(const std::vector<std::string_view>& pieces) {
  Conversation conversation;
  current = &conversation;
  const uint64_t refused = server->stats().refused_requests;
  conversation.wire = server->talk(pieces);
  conversation.refused = server->stats().refused_requests - refused;
  fuzz::require(server->stats().requests_in_flight == 0, "every request has ended");
  erase_all(conversation.wire, "Date: ", "\r\n");
  // Whether a client is told to go on depends on whether its body had already come.
  erase_all(conversation.wire, "HTTP/1.1 100 Continue", "\r\n\r\n");
  return conversation;
}

// An answer to HEAD announces a body and has none: nothing follows its head, or the next answer.
bool has_no_body(std::string_view wire) {
  const size_t end = wire.find("\r\n\r\n");
  if (end == std::string_view::npos) return false;
  const std::string_view rest = wire.substr(end + 4);
  return rest.empty() || rest.starts_with("HTTP/1.1 ");
}

// Every request has one whole answer, those that the handler saw and those that were refused.
void check_answers(const Conversation& conversation) {
  std::string_view wire = conversation.wire;
  size_t answers = 0;
  bool whole = true;
  while (!wire.empty() && whole) {
    const fuzz::Answer answer = fuzz::take_answer(wire, has_no_body(wire), whole);
    if (whole) answers++;
    const bool is_error = answer.status >= 400;
    fuzz::require(!is_error || answer.body.empty() || answer.body.starts_with("{\"error\":"),
                  "an error has its shape", answer.body);
  }
  if (conversation.aborted) return;
  fuzz::require(whole, "an answer is whole", conversation.wire);
  fuzz::require(answers == conversation.requests.size() + conversation.refused,
                "every request has one answer", conversation.wire);
}

std::vector<std::string_view> cut(std::string_view bytes) {
  fuzz::Choices choices(bytes);
  std::vector<size_t> places{bytes.size()};
  for (size_t cuts = choices.below(7); cuts > 0; cuts--) {
    places.push_back(choices.below(bytes.size() + 1));
  }
  std::sort(places.begin(), places.end());
  std::vector<std::string_view> pieces;
  size_t begin = 0;
  for (const size_t place : places) {
    pieces.push_back(bytes.substr(begin, place - begin));
    begin = place;
  }
  return pieces;
}

http::ServerOptions small_limits() {
  http::ServerOptions options;
  options.header_limit = 1024;
  options.target_limit = 256;
  options.body_limit = 4096;
  options.pipeline_limit = 512;
  options.write_buffer_limit = 2048;
  return options;
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static fuzz::Loopback loopback(handle, small_limits());
  server = &loopback;
  const std::string_view bytes = fuzz::text_of(data, size);
  const Conversation whole = talk({bytes});
  check_answers(whole);
  const Conversation pieces = talk(cut(bytes));
  check_answers(pieces);
  fuzz::require(whole.requests == pieces.requests && whole.refused == pieces.refused,
                "the requests do not depend on the pieces");
  if (whole.aborted) return 0;
  fuzz::require(comparable(whole) == comparable(pieces), "the answers do not depend on the pieces",
                whole.wire + "\n--- in pieces:\n" + pieces.wire);
  return 0;
}
