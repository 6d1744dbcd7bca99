#include "core/bench/server_load.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <mutex>
#include <random>
#include <thread>

#include <nlohmann/json.hpp>

#include "core/http/client.h"

namespace halogen::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The events of a stream, as they arrive in pieces of any size.
class EventReader {
 public:
  explicit EventReader(Clock::time_point arrival) : arrival_(arrival) {}

  bool take(std::string_view bytes) {
    buffered_ += bytes;
    size_t line_end = 0;
    while ((line_end = buffered_.find('\n')) != std::string::npos) {
      const std::string line = buffered_.substr(0, line_end);
      buffered_.erase(0, line_end + 1);
      if (line.starts_with("data: {")) take_event(line.substr(6));
      if (line.starts_with("data: [DONE]")) done_ = true;
    }
    return true;
  }

  // What there is to say at the end; HALOGEN_E_IO for a stream that broke off or told an error.
  Result<RequestTimes> finish() {
    if (!error_.empty()) return fail(HALOGEN_E_IO, error_);
    if (!done_) return fail(HALOGEN_E_IO, "the stream ended without [DONE]");
    times_.end = seconds_since(arrival_);
    return times_;
  }

 private:
  void take_event(const std::string& text) {
    const Json event = Json::parse(text, nullptr, false);
    if (event.is_discarded()) return;
    if (event.contains("error")) error_ = event["error"].dump();
    if (const auto usage = event.find("usage"); usage != event.end() && usage->is_object()) {
      times_.prompt_tokens = usage->value("prompt_tokens", uint64_t{0});
      times_.answer_tokens = usage->value("completion_tokens", uint64_t{0});
    }
    const auto choices = event.find("choices");
    if (choices == event.end() || !choices->is_array() || choices->empty()) return;
    const double now = seconds_since(arrival_);
    if (seen_) {
      times_.gaps.push_back(now - last_);
    } else {
      times_.first_token = now;
    }
    seen_ = true;
    last_ = now;
  }

  const Clock::time_point arrival_;
  std::string buffered_, error_;
  RequestTimes times_;
  double last_ = 0;
  bool seen_ = false, done_ = false;
};

// Random prompts; the shared beginning is the same in all of them.
class Prompts {
 public:
  explicit Prompts(const LoadOptions& options) : options_(options) {}

  std::vector<uint32_t> operator()(uint32_t index) const {
    std::vector<uint32_t> ids;
    const uint32_t shared = std::min(options_.shared_tokens, options_.prompt_tokens);
    append(ids, shared, options_.seed);
    append(ids, options_.prompt_tokens - shared, options_.seed + 1 + index);
    return ids;
  }

 private:
  void append(std::vector<uint32_t>& ids, uint32_t count, uint64_t seed) const {
    std::mt19937_64 random(seed);
    // Low ids are control tokens in many vocabularies.
    std::uniform_int_distribution<uint32_t> any(options_.token_ids / 2, options_.token_ids - 1);
    for (uint32_t i = 0; i < count; i++) ids.push_back(any(random));
  }

  const LoadOptions& options_;
};

http::ClientRequest request_to(const LoadOptions& options, const std::string& target) {
  http::ClientRequest request;
  request.host = options.server.host;
  request.port = options.server.port;
  request.target = options.server.path + target;
  request.headers = {{"Content-Type", "application/json"}};
  if (!options.api_key.empty())
    request.headers.push_back({"Authorization", "Bearer " + options.api_key});
  return request;
}

Error bad_status(const http::ClientResponse& response) {
  return fail(HALOGEN_E_IO, "status " + std::to_string(response.status) + ": " + response.body);
}

// What the server calls the model that it names first.
Result<std::string> first_model(const LoadOptions& options) {
  auto response = http::http_request(request_to(options, "/v1/models"));
  if (!response) return response.error();
  if (response->status != 200) return bad_status(*response);
  const Json list = Json::parse(response->body, nullptr, false);
  const Json::json_pointer id("/data/0/id");
  if (list.is_discarded() || !list.contains(id) || !list.at(id).is_string())
    return fail(HALOGEN_E_IO, "/v1/models names no model");
  return list.at(id).get<std::string>();
}

Result<RequestTimes> ask(const LoadOptions& options, const std::vector<uint32_t>& prompt,
                         Clock::time_point arrival) {
  http::ClientRequest request = request_to(options, "/v1/completions");
  request.method = "POST";
  request.timeout = std::chrono::minutes(10);  // a long queue is no failure
  request.body = Json{{"model", options.model},
                      {"prompt", prompt},
                      {"max_tokens", options.answer_tokens},
                      {"ignore_eos", true},
                      {"temperature", 0},
                      {"stream", true},
                      {"stream_options", {{"include_usage", true}}}}
                     .dump();
  EventReader reader(arrival);
  auto response =
      http::http_request(request, [&](std::string_view bytes) { return reader.take(bytes); });
  if (!response) return response.error();
  if (response->status != 200) {
    return fail(HALOGEN_E_IO, "status " + std::to_string(response->status) + ": " + response->body);
  }
  return reader.finish();
}

// When each request arrives, in seconds after the start: at random, as from many people who know
// nothing of each other.
std::vector<double> arrivals(const LoadOptions& options) {
  std::vector<double> times(options.requests, 0.0);
  if (options.rate <= 0) return times;
  std::mt19937_64 random(options.seed);
  std::exponential_distribution<double> pause(options.rate);
  double now = 0;
  for (double& time : times) {
    time = now;
    now += pause(random);
  }
  return times;
}

}  // namespace

Result<ServerAddress> parse_url(const std::string& url) {
  const auto refuse = [&](const char* what) {
    return fail(HALOGEN_E_INVALID, "--url " + url + ": " + what +
                                       "; it must be http://HOST[:PORT], such as "
                                       "http://127.0.0.1:8080");
  };
  constexpr std::string_view scheme = "http://";
  if (!url.starts_with(scheme)) return refuse("only http is spoken");
  ServerAddress address;
  std::string rest = url.substr(scheme.size());
  if (const size_t slash = rest.find('/'); slash != std::string::npos) {
    address.path = rest.substr(slash);
    while (address.path.ends_with('/')) address.path.pop_back();
    rest.resize(slash);
  }
  const size_t bracket = rest.find(']');
  const size_t colon = rest.find(':', bracket == std::string::npos ? 0 : bracket);
  if (colon != std::string::npos) {
    const char* end = rest.data() + rest.size();
    const auto [at, error] = std::from_chars(rest.data() + colon + 1, end, address.port);
    if (error != std::errc() || at != end) return refuse("the port is no number up to 65535");
    rest.resize(colon);
  }
  if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
  if (rest.empty()) return refuse("the host is missing");
  address.host = rest;
  return address;
}

LoadResult run_load(LoadOptions options) {
  LoadResult result;
  if (options.model.empty()) {
    auto name = first_model(options);
    if (!name) return {0, {}, options.requests, name.error().message};
    options.model = std::move(*name);
  }
  const std::vector<double> times = arrivals(options);
  const Prompts prompts(options);
  const auto start = Clock::now();
  std::mutex mutex;
  std::atomic<uint32_t> next{0};
  const auto stream = [&] {
    for (uint32_t index = next++; index < options.requests; index = next++) {
      const std::vector<uint32_t> prompt = prompts(index);
      const auto due = start + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(times[index]));
      std::this_thread::sleep_until(due);
      auto answered = ask(options, prompt, options.rate > 0 ? due : Clock::now());
      const std::scoped_lock lock(mutex);
      if (answered) {
        result.requests.push_back(std::move(*answered));
      } else if (result.failed++ == 0) {
        result.failure = answered.error().message;
      }
    }
  };
  std::vector<std::jthread> streams;
  for (uint32_t i = 0; i < std::min(options.streams, options.requests); i++)
    streams.emplace_back(stream);
  streams.clear();
  result.seconds = seconds_since(start);
  return result;
}

}  // namespace halogen::bench
