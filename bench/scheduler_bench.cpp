// What each policy makes clients wait, in simulated time: a machine whose steps take exactly what
// its cost model says, and a day's requests. Deterministic; takes seconds.
//
//   scheduler_bench [TARGET_INTERVAL_MS, default 100]
//
// The machine is one of two slow cores with half a billion parameters: 15 ms a step, 1.5 ms a token
// of a prompt (and 0.1 us for each token before it), 3 ms a decode. TTFT is time to first token;
// short prompts are those of at most 100 tokens; intervals are times between two tokens of an
// answer.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "core/check/scheduler/timeline.h"
#include "plugins/scheduler/factory.h"

namespace {

using halogen::check::Budgets;
using halogen::check::play_timed;
using halogen::check::TimedJob;
using halogen::check::Timeline;

Budgets machine(double target_interval_us) {
  Budgets budgets;
  budgets.block_tokens = 16;
  budgets.total_blocks = 4096;
  budgets.tokens = budgets.prefill = 2048;
  budgets.max_sequences = 16;
  budgets.costs = {.step = 15'000,
                   .prefill_token = 1500,
                   .prefill_context = 0.1,
                   .decode_token = 3000,
                   .decode_context = 1};
  budgets.target_interval_us = target_interval_us;
  return budgets;
}

// Chats of half an hour: prompts of 20 to 2000 tokens, mostly short, and answers of 20 to 200.
std::vector<TimedJob> chats(double per_second) {
  std::mt19937 random(1);
  std::exponential_distribution<double> pause(per_second);
  std::lognormal_distribution<double> length(4.4, 1.0);
  std::vector<TimedJob> jobs;
  for (double now = 0; now < 1800; now += pause(random)) {
    TimedJob job;
    job.arrival_us = static_cast<uint64_t>(1e6 * now);
    job.prompt = static_cast<uint32_t>(std::clamp(length(random), 20.0, 2000.0));
    job.answer = 20 + static_cast<uint32_t>(random() % 180);
    jobs.push_back(job);
  }
  return jobs;
}

std::vector<TimedJob> with_documents(std::vector<TimedJob> jobs) {
  for (uint64_t i = 1; i < 18; i++) jobs.push_back({i * 100'000'000, 8192, 100});
  std::sort(jobs.begin(), jobs.end(),
            [](const TimedJob& a, const TimedJob& b) { return a.arrival_us < b.arrival_us; });
  return jobs;
}

std::vector<TimedJob> burst() {
  std::vector<TimedJob> jobs;
  for (uint32_t i = 0; i < 16; i++) jobs.push_back({0, 32U << (i * 7 % 6), 64});
  return jobs;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto place = static_cast<size_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(place), values.end());
  return values[place];
}

void report(const char* trace, const char* policy, const std::vector<TimedJob>& jobs,
            const Timeline& timeline) {
  if (!timeline.fault.empty()) {
    std::printf("%-10s %-15s %s\n", trace, policy, timeline.fault.c_str());
    return;
  }
  std::vector<double> first, first_of_short;
  uint64_t tokens = 0;
  for (size_t i = 0; i < jobs.size(); i++) {
    first.push_back(timeline.answers[i].first_token_us());
    if (jobs[i].prompt <= 100) first_of_short.push_back(first.back());
    tokens += jobs[i].answer;
  }
  const std::vector<double> intervals = timeline.intervals_us();
  constexpr double kMs = 1e3;
  std::printf("%-10s %-15s %9.0f %9.0f %9.0f %9.0f   %7.0f %7.0f %7.0f %9.1f\n", trace, policy,
              mean(first) / kMs, quantile(first, 0.5) / kMs, quantile(first, 0.99) / kMs,
              quantile(first_of_short, 0.99) / kMs, mean(intervals) / kMs,
              quantile(intervals, 0.99) / kMs, quantile(intervals, 1) / kMs,
              1e6 * static_cast<double>(tokens) / timeline.total_us);
}

halogen_scheduler* create(const char* policy) {
  halogen_config config{};
  config.struct_size = sizeof config;
  config.context = policy;
  config.get_int = [](const halogen_config*, const char*, int64_t* value) {
    *value = 0;
    return halogen_status{HALOGEN_OK};
  };
  config.get_string = [](const halogen_config* self, const char*, halogen_string* value) {
    const auto* text = static_cast<const char*>(self->context);
    *value = {text, std::strlen(text)};
    return halogen_status{HALOGEN_OK};
  };
  halogen_scheduler* made = nullptr;
  if (scheduler::factory.create(&config, &made, nullptr) != HALOGEN_OK) std::abort();
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  const double target_ms = argc > 1 ? std::atof(argv[1]) : 100;
  const std::pair<const char*, std::vector<TimedJob>> traces[] = {
      {"chats", chats(1.0)},
      {"busy", chats(1.4)},
      {"documents", with_documents(chats(1.0))},
      {"burst", burst()}};
  std::printf("%-10s %-15s %9s %9s %9s %9s   %7s %7s %7s %9s\n", "trace", "policy", "TTFT", "P50",
              "P99", "short P99", "interval", "P99", "max", "tokens/s");
  for (const auto& [trace, jobs] : traces) {
    for (const char* policy : {"shortest-first", "first-come", "priority"}) {
      halogen_scheduler* scheduler = create(policy);
      report(trace, policy, jobs,
             play_timed({&scheduler::factory, scheduler}, jobs, machine(1000 * target_ms)));
      scheduler::factory.destroy(scheduler);
    }
  }
  return 0;
}
