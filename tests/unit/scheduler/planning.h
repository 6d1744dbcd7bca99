// A view and a plan with their own storage, written down request by request.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "halogen/config.h"
#include "halogen/scheduler.h"

#include "core/engine/plan.h"
#include "plugins/scheduler/factory.h"

namespace planning {

struct Request {
  uint64_t id = 0;
  bool running = false;
  uint32_t computed = 0;
  uint32_t waiting = 0;
  uint32_t blocks = 0;
  int32_t priority = 0;
  uint32_t generated = 0;
};

struct Budgets {
  uint32_t block_tokens = 4;
  uint32_t free_blocks = 100, total_blocks = 100;
  uint32_t tokens = 64, prefill = 32;
  uint32_t max_sequences = 8;
};

struct Plan {
  std::vector<uint32_t> tokens;
  std::vector<uint8_t> preempt;
  const char* fault = nullptr;  // by halogen::check_plan
};

// `prefill_chunk` as in the profile.
class Scheduler {
 public:
  explicit Scheduler(int64_t prefill_chunk = 0) {
    halogen_config config{};
    config.struct_size = sizeof config;
    config.context = &prefill_chunk;
    config.get_int = [](const halogen_config* self, const char*, int64_t* value) {
      *value = *static_cast<const int64_t*>(self->context);
      return halogen_status{HALOGEN_OK};
    };
    EXPECT_EQ(scheduler::factory.create(&config, &scheduler_, nullptr), HALOGEN_OK);
  }
  ~Scheduler() { scheduler::factory.destroy(scheduler_); }
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  Plan plan(const std::vector<Request>& requests, const Budgets& budgets) {
    const size_t n = requests.size();
    std::vector<uint64_t> ids(n), arrivals(n);
    std::vector<int32_t> priorities(n);
    std::vector<uint8_t> states(n);
    std::vector<uint32_t> computed(n), waiting(n), cached(n), generated(n), held(n);
    for (size_t i = 0; i < n; i++) {
      ids[i] = requests[i].id;
      arrivals[i] = i;
      priorities[i] = requests[i].priority;
      states[i] = requests[i].running ? HALOGEN_REQUEST_RUNNING : HALOGEN_REQUEST_WAITING;
      computed[i] = requests[i].computed;
      waiting[i] = requests[i].waiting;
      generated[i] = requests[i].generated;
      held[i] = requests[i].blocks;
    }
    halogen_schedule_view view{};
    view.struct_size = sizeof view;
    view.n_requests = static_cast<uint32_t>(n);
    view.ids = ids.data();
    view.arrival_us = arrivals.data();
    view.priorities = priorities.data();
    view.states = states.data();
    view.computed_tokens = computed.data();
    view.waiting_tokens = waiting.data();
    view.cached_tokens = cached.data();
    view.generated_tokens = generated.data();
    view.blocks_held = held.data();
    view.block_tokens = budgets.block_tokens;
    view.free_blocks = budgets.free_blocks;
    view.total_blocks = budgets.total_blocks;
    view.token_budget = budgets.tokens;
    view.prefill_budget = budgets.prefill;
    view.max_sequences = budgets.max_sequences;

    Plan plan{std::vector<uint32_t>(n), std::vector<uint8_t>(n)};
    halogen_schedule_plan out{};
    out.struct_size = sizeof out;
    out.tokens = plan.tokens.data();
    out.preempt = plan.preempt.data();
    halogen_error error{};
    error.struct_size = sizeof error;
    EXPECT_EQ(scheduler::factory.plan(scheduler_, &view, &out, &error), HALOGEN_OK)
        << error.message;
    plan.fault = halogen::check_plan(view, out).what;
    return plan;
  }

 private:
  halogen_scheduler* scheduler_ = nullptr;
};

}  // namespace planning
