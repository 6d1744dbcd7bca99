// The scheduler as a test uses it: views written down request by request, plans checked as the core
// checks them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "halogen/config.h"

#include "core/check/scheduler/simulation.h"
#include "plugins/scheduler/factory.h"

namespace planning {

using halogen::check::Budgets;
using halogen::check::History;
using halogen::check::Job;
using Plan = halogen::check::SimulatedPlan;
using Request = halogen::check::SimulatedRequest;

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
    return halogen::check::SchedulerUnderTest{&scheduler::factory, scheduler_}.plan(requests,
                                                                                    budgets);
  }
  History play(const std::vector<Job>& jobs, const Budgets& budgets) {
    return halogen::check::play({&scheduler::factory, scheduler_}, jobs, budgets);
  }

 private:
  halogen_scheduler* scheduler_ = nullptr;
};

}  // namespace planning
