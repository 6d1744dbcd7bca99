// Schedulers in simulated situations: views written down request by request, and whole histories
// played with the bookkeeping of an engine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halogen/scheduler.h"

namespace halogen::check {

struct SimulatedRequest {
  uint64_t id = 0;
  bool running = false;
  uint32_t computed = 0;
  uint32_t waiting = 0;
  uint32_t blocks = 0;
  int32_t priority = 0;
  uint32_t generated = 0;
  uint64_t arrival_us = 0;
  uint32_t cached = 0;  // of the computed ones, until it runs
};

// What a view tells of costs, in microseconds; see halogen/scheduler.h.
struct SimulatedCosts {
  double step = 0;
  double prefill_token = 0, prefill_context = 0;
  double decode_token = 0, decode_context = 0;
};

struct Budgets {
  uint32_t block_tokens = 4;
  uint32_t free_blocks = 100, total_blocks = 100;
  uint32_t tokens = 64, prefill = 32;
  uint32_t max_sequences = 8;
  uint64_t now_us = 0;
  SimulatedCosts costs;
  double target_interval_us = 0;
};

// The arrays of a view, in order of arrival.
class ViewArrays {
 public:
  ViewArrays(const std::vector<SimulatedRequest>& requests, const Budgets& budgets);
  const halogen_schedule_view& view() const { return view_; }
  bool operator==(const ViewArrays& other) const;

 private:
  std::vector<uint64_t> ids_, arrivals_;
  std::vector<int32_t> priorities_;
  std::vector<uint8_t> states_;
  std::vector<uint32_t> computed_, waiting_, cached_, generated_, held_;
  halogen_schedule_view view_{};
};

struct SimulatedPlan {
  std::vector<uint32_t> tokens;
  std::vector<uint8_t> preempt;
  std::string fault;  // the first broken invariant, or the scheduler's error; empty: none
};

struct SchedulerUnderTest {
  const halogen_scheduler_factory* factory;
  halogen_scheduler* scheduler;

  SimulatedPlan plan(const std::vector<SimulatedRequest>& requests, const Budgets& budgets) const;
};

// What the plan does to one request: its tokens are computed, or its blocks given back.
void apply_plan(SimulatedRequest& request, uint32_t tokens, bool preempted, Budgets& budgets);

struct Job {
  uint64_t id;
  uint32_t prompt, answer;
  uint32_t arrival;  // the step at which it comes
  SimulatedRequest request = {};
  bool started = false;
};

struct History {
  uint32_t steps = 0;
  uint32_t preemptions = 0;
  std::vector<uint64_t> started, finished;  // ids, in order
  std::string fault;                        // what ended it early; empty: nothing
};

// Plays the jobs, which are in order of arrival, through the scheduler until all have ended.
History play(const SchedulerUnderTest& scheduler, const std::vector<Job>& jobs, Budgets budgets);

}  // namespace halogen::check
