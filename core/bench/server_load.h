// How a running server does under load: many streams at once, through its OpenAI-compatible API.
// Works with any server that takes prompts as token ids at /v1/completions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace halogen::bench {

struct ServerAddress {
  std::string host;
  uint16_t port = 80;
  std::string path;  // before "/v1/…"; no slash at the end
};

// Reads "http://HOST[:PORT][/PATH]". [any]
Result<ServerAddress> parse_url(const std::string& url);

struct LoadOptions {
  ServerAddress server;
  std::string model;  // in requests; empty: the first that the server names
  std::string api_key;
  uint32_t streams = 8;    // requests that run at once at most
  uint32_t requests = 32;  // in all
  uint32_t prompt_tokens = 128;
  uint32_t shared_tokens = 0;  // of them, those with which every prompt begins
  uint32_t answer_tokens = 64;
  double rate = 0;            // requests that arrive per second, at random; 0: as soon as a
                              // stream is free
  uint32_t token_ids = 1000;  // prompts are random ids below this
  uint64_t seed = 1;
};

// What one request saw, in seconds. With a rate, times count from the arrival, so that waiting for
// a free stream is part of them.
struct RequestTimes {
  double first_token = 0;
  double end = 0;
  std::vector<double> gaps;                       // between one piece of the answer and the next
  uint64_t prompt_tokens = 0, answer_tokens = 0;  // as the server counts them
};

struct LoadResult {
  double seconds = 0;                  // from the first request to the last answer
  std::vector<RequestTimes> requests;  // those that were answered
  uint32_t failed = 0;
  std::string failure;  // the first
};

// [worker] Runs the load; blocks until all of it is done.
LoadResult run_load(LoadOptions options);

// As a terminal shows it, and as JSON.
std::string load_text(const LoadOptions& options, const LoadResult& result);
std::string load_json(const LoadOptions& options, const LoadResult& result);

}  // namespace halogen::bench
