// What a load on a server has shown, for people and for programs.
#include <nlohmann/json.hpp>

#include "core/bench/server_load.h"
#include "core/bench/statistics.h"
#include "core/bench/table.h"

namespace halogen::bench {
namespace {

using Json = nlohmann::ordered_json;

struct Figures {
  uint64_t prompt_tokens = 0, answer_tokens = 0;
  std::vector<double> first_token, gaps, whole;  // milliseconds

  explicit Figures(const LoadResult& result) {
    for (const RequestTimes& one : result.requests) {
      prompt_tokens += one.prompt_tokens;
      answer_tokens += one.answer_tokens;
      first_token.push_back(1000 * one.first_token);
      whole.push_back(1000 * one.end);
      for (const double gap : one.gaps) gaps.push_back(1000 * gap);
    }
  }
};

double per_second(uint64_t count, const LoadResult& result) {
  return result.seconds > 0 ? static_cast<double>(count) / result.seconds : 0;
}

constexpr double kPercents[] = {50, 90, 99, 100};

std::vector<std::string> row(const char* name, const std::vector<double>& milliseconds) {
  std::vector<std::string> cells{name};
  for (const double percent : kPercents)
    cells.push_back(fixed(percentile(milliseconds, percent), 1));
  return cells;
}

Json percentiles(const std::vector<double>& milliseconds) {
  return {{"p50", percentile(milliseconds, 50)},
          {"p90", percentile(milliseconds, 90)},
          {"p99", percentile(milliseconds, 99)},
          {"max", percentile(milliseconds, 100)}};
}

}  // namespace

std::string load_text(const LoadOptions& options, const LoadResult& result) {
  const Figures figures(result);
  std::string text = std::to_string(result.requests.size()) + " requests answered in " +
                     fixed(result.seconds, 2) + " s over " + std::to_string(options.streams) +
                     " streams";
  if (result.failed > 0)
    text += "; " + std::to_string(result.failed) + " failed, the first with: " + result.failure;
  text += "\n" + fixed(per_second(figures.answer_tokens, result), 1) +
          " tok/s generated, all streams together; " +
          fixed(per_second(figures.prompt_tokens, result), 1) + " tok/s of prompts\n\n";
  Table table({"milliseconds", "P50", "P90", "P99", "most"});
  table.add(row("time to first token", figures.first_token));
  table.add(row("time between tokens", figures.gaps));
  table.add(row("whole request", figures.whole));
  return text + table.text();
}

std::string load_json(const LoadOptions& options, const LoadResult& result) {
  const Figures figures(result);
  Json root;
  root["streams"] = options.streams;
  root["prompt_tokens"] = options.prompt_tokens;
  root["shared_tokens"] = options.shared_tokens;
  root["answer_tokens"] = options.answer_tokens;
  root["rate"] = options.rate;
  root["answered"] = result.requests.size();
  root["failed"] = result.failed;
  if (result.failed > 0) root["failure"] = result.failure;
  root["seconds"] = result.seconds;
  root["tokens_per_second"] = per_second(figures.answer_tokens, result);
  root["prompt_tokens_per_second"] = per_second(figures.prompt_tokens, result);
  root["time_to_first_token_ms"] = percentiles(figures.first_token);
  root["time_between_tokens_ms"] = percentiles(figures.gaps);
  root["request_ms"] = percentiles(figures.whole);
  return root.dump(2) + "\n";
}

}  // namespace halogen::bench
