#include "core/check/scheduler/simulation.h"

#include <algorithm>

#include "core/engine/plan.h"

namespace halogen::check {
namespace {

constexpr uint32_t kMostSteps = 100000;
constexpr uint64_t kStepMicroseconds = 10000;

}  // namespace

ViewArrays::ViewArrays(const std::vector<SimulatedRequest>& requests, const Budgets& budgets) {
  double decodes = 0, decode_context = 0;
  for (const SimulatedRequest& request : requests) {
    ids_.push_back(request.id);
    arrivals_.push_back(request.arrival_us);
    priorities_.push_back(request.priority);
    states_.push_back(request.running ? HALOGEN_REQUEST_RUNNING : HALOGEN_REQUEST_WAITING);
    computed_.push_back(request.computed);
    waiting_.push_back(request.waiting);
    cached_.push_back(request.running ? 0 : request.cached);
    generated_.push_back(request.generated);
    held_.push_back(request.blocks);
    if (request.running && request.waiting == 1) {
      decodes++;
      decode_context += request.computed;
    }
  }
  view_.struct_size = sizeof view_;
  view_.n_requests = static_cast<uint32_t>(requests.size());
  view_.ids = ids_.data();
  view_.arrival_us = arrivals_.data();
  view_.priorities = priorities_.data();
  view_.states = states_.data();
  view_.computed_tokens = computed_.data();
  view_.waiting_tokens = waiting_.data();
  view_.cached_tokens = cached_.data();
  view_.generated_tokens = generated_.data();
  view_.blocks_held = held_.data();
  view_.now_us = budgets.now_us;
  view_.block_tokens = budgets.block_tokens;
  view_.free_blocks = budgets.free_blocks;
  view_.total_blocks = budgets.total_blocks;
  view_.token_budget = budgets.tokens;
  view_.prefill_budget = budgets.prefill;
  view_.max_sequences = budgets.max_sequences;
  const SimulatedCosts& costs = budgets.costs;
  view_.prefill_token_us = costs.prefill_token;
  view_.decode_step_us =
      costs.step + costs.decode_token * decodes + costs.decode_context * decode_context;
  view_.target_token_interval_us = budgets.target_interval_us;
  view_.step_us = costs.step;
  view_.decode_token_us = costs.decode_token;
  view_.prefill_context_us = costs.prefill_context;
  view_.decode_context_us = costs.decode_context;
}

bool ViewArrays::operator==(const ViewArrays& other) const {
  return ids_ == other.ids_ && arrivals_ == other.arrivals_ && priorities_ == other.priorities_ &&
         states_ == other.states_ && computed_ == other.computed_ && waiting_ == other.waiting_ &&
         cached_ == other.cached_ && generated_ == other.generated_ && held_ == other.held_;
}

SimulatedPlan SchedulerUnderTest::plan(const std::vector<SimulatedRequest>& requests,
                                       const Budgets& budgets) const {
  const ViewArrays arrays(requests, budgets);
  SimulatedPlan plan{
      std::vector<uint32_t>(requests.size()), std::vector<uint8_t>(requests.size()), {}};
  halogen_schedule_plan out{sizeof out, plan.tokens.data(), plan.preempt.data()};
  halogen_error error{sizeof(halogen_error), HALOGEN_OK, ""};
  const halogen_status status = factory->plan(scheduler, &arrays.view(), &out, &error);
  if (status != HALOGEN_OK) {
    plan.fault = std::string("plan answers ") + halogen_status_name(status) + ": " +
                 (error.message[0] ? error.message : "no message");
  } else if (const PlanFault fault = check_plan(arrays.view(), out); fault.what) {
    plan.fault = fault.what;
    if (fault.request < requests.size())
      plan.fault += " (request " + std::to_string(fault.request) + ")";
  } else if (!(arrays == ViewArrays(requests, budgets))) {
    plan.fault = "it changes the view";
  }
  return plan;
}

void apply_plan(SimulatedRequest& request, uint32_t tokens, bool preempted, Budgets& budgets) {
  if (preempted) {
    budgets.free_blocks += request.blocks;
    request.waiting += request.computed;
    request.computed = request.blocks = request.cached = 0;
    request.running = false;
  }
  if (tokens == 0) return;
  request.running = true;
  request.computed += tokens;
  request.waiting -= tokens;
  const uint32_t needed = blocks_for(request.computed, budgets.block_tokens);
  budgets.free_blocks -= needed - request.blocks;
  request.blocks = needed;
  if (request.waiting == 0) {
    request.generated++;
    request.waiting = 1;
  }
}

History play(const SchedulerUnderTest& scheduler, const std::vector<Job>& jobs, Budgets budgets) {
  History history;
  budgets.free_blocks = budgets.total_blocks;
  std::vector<Job> live;
  auto next = jobs.begin();
  while (next != jobs.end() || !live.empty()) {
    for (; next != jobs.end() && next->arrival <= history.steps; ++next) {
      live.push_back(*next);
      live.back().request.id = next->id;
      live.back().request.waiting = next->prompt;
      live.back().request.arrival_us = next->arrival * kStepMicroseconds;
    }
    if (++history.steps > kMostSteps) {
      history.fault = "after " + std::to_string(kMostSteps) + " steps there are still " +
                      std::to_string(live.size()) + " requests";
      return history;
    }
    if (live.empty()) continue;
    budgets.now_us = history.steps * kStepMicroseconds;
    std::vector<SimulatedRequest> requests;
    for (const Job& job : live) requests.push_back(job.request);
    const SimulatedPlan plan = scheduler.plan(requests, budgets);
    if (!plan.fault.empty()) {
      history.fault = "step " + std::to_string(history.steps) + ": " + plan.fault;
      return history;
    }
    for (size_t i = 0; i < live.size(); i++) {
      history.preemptions += plan.preempt[i] != HALOGEN_KEEP;
      if (plan.tokens[i] == 0 || live[i].started) continue;
      live[i].started = true;
      history.started.push_back(live[i].id);
    }
    // What preempted requests give back is there for the others.
    for (const bool giving : {true, false})
      for (size_t i = 0; i < live.size(); i++)
        if ((plan.preempt[i] != HALOGEN_KEEP) == giving)
          apply_plan(live[i].request, plan.tokens[i], giving, budgets);
    std::erase_if(live, [&](const Job& job) {
      if (job.request.generated < job.answer) return false;
      budgets.free_blocks += job.request.blocks;
      history.finished.push_back(job.id);
      return true;
    });
  }
  if (budgets.free_blocks != budgets.total_blocks) history.fault = "blocks were lost";
  return history;
}

}  // namespace halogen::check
