// The scheduler as a test uses it: views written down request by request, plans checked as the core
// checks them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "halogen/config.h"

#include "core/check/scheduler/simulation.h"
#include "core/check/scheduler/timeline.h"
#include "plugins/scheduler/factory.h"

namespace planning {

using halogen::check::Budgets;
using halogen::check::History;
using halogen::check::Job;
using halogen::check::TimedJob;
using halogen::check::Timeline;
using Plan = halogen::check::SimulatedPlan;
using Request = halogen::check::SimulatedRequest;

// `policy` and `prefill_chunk` as in the profile.
class Scheduler {
 public:
  explicit Scheduler(const char* policy = "shortest-first", int64_t prefill_chunk = 0) {
    const std::pair settings(policy, prefill_chunk);
    halogen_config config{};
    config.struct_size = sizeof config;
    config.context = &settings;
    config.get_int = [](const halogen_config* self, const char*, int64_t* value) {
      *value = static_cast<const decltype(settings)*>(self->context)->second;
      return halogen_status{HALOGEN_OK};
    };
    config.get_string = [](const halogen_config* self, const char*, halogen_string* value) {
      const char* text = static_cast<const decltype(settings)*>(self->context)->first;
      *value = {text, std::strlen(text)};
      return halogen_status{HALOGEN_OK};
    };
    EXPECT_EQ(scheduler::factory.create(&config, &scheduler_, nullptr), HALOGEN_OK);
  }
  ~Scheduler() { scheduler::factory.destroy(scheduler_); }
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  Plan plan(const std::vector<Request>& requests, const Budgets& budgets) {
    return under_test().plan(requests, budgets);
  }
  History play(const std::vector<Job>& jobs, const Budgets& budgets) {
    return halogen::check::play(under_test(), jobs, budgets);
  }
  Timeline time(const std::vector<TimedJob>& jobs, const Budgets& budgets,
                const halogen::check::SimulatedMachine& machine = {}) {
    return halogen::check::play_timed(under_test(), jobs, budgets, machine);
  }

 private:
  halogen::check::SchedulerUnderTest under_test() const {
    return {&scheduler::factory, scheduler_};
  }

  halogen_scheduler* scheduler_ = nullptr;
};

}  // namespace planning
