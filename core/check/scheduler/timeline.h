// Schedulers against the clock: histories in which every step takes what a cost model says, and
// the times that clients would see.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/check/scheduler/simulation.h"
#include "core/engine/step_costs.h"

namespace halogen::check {

struct TimedJob {
  uint64_t arrival_us = 0;
  uint32_t prompt = 1, answer = 1;  // tokens
  int32_t priority = 0;
  uint32_t cached = 0;  // of the prompt, what the prefix cache has
};

struct TimedAnswer {
  std::vector<double> token_us;  // when each token came, from the arrival on
  uint32_t preemptions = 0;

  double first_token_us() const { return token_us.front(); }
};

struct Timeline {
  std::vector<TimedAnswer> answers;  // of the jobs, in order
  double total_us = 0, longest_step_us = 0;
  uint32_t steps = 0;
  std::string fault;  // what ended it early; empty: nothing

  // The times between two tokens of an answer, of all answers.
  std::vector<double> intervals_us() const;
};

// The work of a prompt alone, in one step without its fixed cost.
double prefill_us(const SimulatedCosts& costs, double computed, double tokens);

// What a step takes, in microseconds.
using SimulatedMachine = std::function<double(const StepWork& work)>;

// Plays the jobs, in order of arrival, until all have ended. The machine costs exactly what
// `budgets` says and the view tells; where one is given, the view tells what the engine would have
// learned of it by then.
Timeline play_timed(const SchedulerUnderTest& scheduler, const std::vector<TimedJob>& jobs,
                    Budgets budgets, const SimulatedMachine& machine = {});

}  // namespace halogen::check
