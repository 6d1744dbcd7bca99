#include "core/check/scheduler/timeline.h"

#include <algorithm>

namespace halogen::check {
namespace {

constexpr uint32_t kMostSteps = 1'000'000;

struct Live {
  size_t job;
  SimulatedRequest request;
};

StepWork work_of(const SimulatedPlan& plan, const std::vector<Live>& live) {
  StepWork work;
  for (size_t i = 0; i < live.size(); i++) {
    const SimulatedRequest& request = live[i].request;
    if (plan.tokens[i] == 0) continue;
    if (request.waiting == 1) {
      work.add_decode(request.computed);
    } else {
      work.add_prefill(request.computed, plan.tokens[i]);
    }
  }
  return work;
}

double exact_us(const SimulatedCosts& costs, const StepWork& work) {
  return costs.step + costs.prefill_token * work.prefill_tokens +
         costs.prefill_context * work.prefill_context + costs.decode_token * work.decodes +
         costs.decode_context * work.decode_context;
}

SimulatedCosts learned(const StepCosts& costs) {
  return {costs.step_us(), costs.prefill_token_us(), costs.prefill_context_us(),
          costs.decode_token_us(), costs.decode_context_us()};
}

SimulatedRequest request_of(const TimedJob& job, uint64_t id) {
  SimulatedRequest request;
  request.id = id;
  request.waiting = job.prompt - job.cached;
  request.computed = request.cached = job.cached;
  request.priority = job.priority;
  request.arrival_us = job.arrival_us;
  request.cached = job.cached;
  return request;
}

}  // namespace

double prefill_us(const SimulatedCosts& costs, double computed, double tokens) {
  return tokens * (costs.prefill_token + costs.prefill_context * (computed + (tokens - 1) / 2));
}

std::vector<double> Timeline::intervals_us() const {
  std::vector<double> intervals;
  for (const TimedAnswer& answer : answers)
    for (size_t i = 1; i < answer.token_us.size(); i++)
      intervals.push_back(answer.token_us[i] - answer.token_us[i - 1]);
  return intervals;
}

Timeline play_timed(const SchedulerUnderTest& scheduler, const std::vector<TimedJob>& jobs,
                    Budgets budgets, const SimulatedMachine& machine) {
  Timeline timeline;
  StepCosts costs;
  timeline.answers.resize(jobs.size());
  budgets.free_blocks = budgets.total_blocks;
  std::vector<Live> live;
  size_t next = 0;
  double now = 0;
  while (next < jobs.size() || !live.empty()) {
    if (live.empty()) now = std::max(now, static_cast<double>(jobs[next].arrival_us));
    for (; next < jobs.size() && static_cast<double>(jobs[next].arrival_us) <= now; next++)
      live.push_back({next, request_of(jobs[next], next)});
    if (++timeline.steps > kMostSteps) {
      timeline.fault = "it does not end";
      return timeline;
    }
    budgets.now_us = static_cast<uint64_t>(now);
    if (machine) budgets.costs = learned(costs);
    std::vector<SimulatedRequest> requests;
    requests.reserve(live.size());
    for (const Live& one : live) requests.push_back(one.request);
    const SimulatedPlan plan = scheduler.plan(requests, budgets);
    if (!plan.fault.empty()) {
      timeline.fault = "step " + std::to_string(timeline.steps) + ": " + plan.fault;
      return timeline;
    }
    const StepWork work = work_of(plan, live);
    const double duration = machine ? machine(work) : exact_us(budgets.costs, work);
    costs.measured(duration, work);
    now += duration;
    timeline.longest_step_us = std::max(timeline.longest_step_us, duration);
    for (const bool giving : {true, false}) {
      for (size_t i = 0; i < live.size(); i++) {
        if ((plan.preempt[i] != HALOGEN_KEEP) != giving) continue;
        TimedAnswer& answer = timeline.answers[live[i].job];
        const uint32_t generated = live[i].request.generated;
        apply_plan(live[i].request, plan.tokens[i], giving, budgets);
        answer.preemptions += giving;
        if (live[i].request.generated > generated)
          answer.token_us.push_back(now - static_cast<double>(jobs[live[i].job].arrival_us));
      }
    }
    std::erase_if(live, [&](const Live& one) {
      if (one.request.generated < jobs[one.job].answer) return false;
      budgets.free_blocks += one.request.blocks;
      return true;
    });
  }
  timeline.total_us = now;
  if (budgets.free_blocks != budgets.total_blocks) timeline.fault = "blocks were lost";
  return timeline;
}

}  // namespace halogen::check
