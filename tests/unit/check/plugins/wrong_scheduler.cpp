// The scheduler plugin, made wrong in the way that the setting `fault` names.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "halogen/cxx/plugin.hpp"
#include "halogen/scheduler.h"

#include "plugins/scheduler/factory.h"

namespace {

halogen::Host host;
std::string fault;

const halogen_config_key kFault = {sizeof(halogen_config_key),
                                   HALOGEN_CONFIG_STRING,
                                   "fault",
                                   "none",
                                   "In what way to be wrong.",
                                   0,
                                   0,
                                   "none|starves|overcommits|remembers|oldest|reads_behind",
                                   false};
const halogen_config_key* const kKeys[] = {&kFault};

halogen_status create(const halogen_config* config, halogen_scheduler** scheduler,
                      halogen_error* error) {
  fault = halogen::Config(config).text("fault");
  halogen_config quiet{};  // the scheduler has keys of its own, which stay at 0 and empty
  quiet.struct_size = sizeof quiet;
  quiet.get_int = [](const halogen_config*, const char*, int64_t* value) {
    *value = 0;
    return halogen_status{HALOGEN_OK};
  };
  quiet.get_string = [](const halogen_config*, const char*, halogen_string* value) {
    *value = {"", 0};
    return halogen_status{HALOGEN_OK};
  };
  return scheduler::factory.create(&quiet, scheduler, error);
}

// Whoever should give way changes places with the oldest request that runs.
void spare_the_youngest(const halogen_schedule_view& view, halogen_schedule_plan& plan) {
  uint32_t oldest = 0;
  for (uint32_t i = 0; i < view.n_requests; i++) {
    if (plan.preempt[i] == HALOGEN_KEEP) continue;
    while (view.states[oldest] != HALOGEN_REQUEST_RUNNING) oldest++;
    std::swap(plan.preempt[i], plan.preempt[oldest]);
    plan.tokens[oldest] = 0;
    return;
  }
}

halogen_status plan(halogen_scheduler* scheduler, const halogen_schedule_view* view,
                    halogen_schedule_plan* plan, halogen_error* error) {
  static uint64_t calls = 0;
  calls++;
  halogen_schedule_view seen = *view;
  // Small newcomers always pass a large one, which waits for as long as they come.
  std::vector<int32_t> priorities(view->priorities, view->priorities + view->n_requests);
  if (fault == "starves")
    for (uint32_t i = 0; i < view->n_requests; i++)
      if (view->waiting_tokens[i] >= 40) priorities[i] = -1;
  seen.priorities = priorities.data();
  if (fault == "remembers" && calls % 7 == 0)
    seen.token_budget = std::max(1U, seen.token_budget / 2);
  if (fault == "overcommits") seen.free_blocks += 1;
  if (fault == "reads_behind" && view->n_requests > 0) {
    const volatile uint64_t* ids = view->ids;
    (void)ids[view->n_requests];
  }
  const halogen_status status = scheduler::factory.plan(scheduler, &seen, plan, error);
  if (fault == "oldest") spare_the_youngest(*view, *plan);
  return status;
}

halogen_scheduler_factory factory() {
  halogen_scheduler_factory changed = scheduler::factory;
  changed.name = "wrong";
  changed.n_config_keys = 1;
  changed.config_keys = kKeys;
  changed.create = create;
  changed.plan = plan;
  return changed;
}

halogen_status init(halogen_error* /*error*/) {
  return HALOGEN_OK;
}
void deinit() {}

const void* get_factory(const char* kind) {
  static const halogen_scheduler_factory changed = factory();
  return std::strcmp(kind, HALOGEN_SCHEDULER_KIND) == 0 ? &changed : nullptr;
}

}  // namespace

HALOGEN_DEFINE_PLUGIN("org.example.scheduler", "Wrong scheduler", "1.0.0", "Apache-2.0", host, init,
                      deinit, get_factory);
