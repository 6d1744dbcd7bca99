#include "factory.h"

#include <new>

#include "halogen/cxx/plugin.hpp"

#include "first_come.h"

struct halogen_scheduler {
  scheduler::FirstCome policy;
};

namespace scheduler {

namespace {

constexpr halogen_config_key kPolicy = {
    sizeof(halogen_config_key),
    HALOGEN_CONFIG_STRING,
    "policy",
    "fcfs",
    "Who goes first: fcfs serves requests in order of priority, then of arrival.",
    0,
    0,
    "fcfs",
    false};
constexpr halogen_config_key kPrefillChunk = {
    sizeof(halogen_config_key),
    HALOGEN_CONFIG_INT,
    "prefill_chunk",
    "0",
    "Most prompt tokens of one request in a step, so that prompts share a step; 0: the whole "
    "prefill budget.",
    0,
    1 << 20,
    nullptr,
    false};
constexpr const halogen_config_key* kKeys[] = {&kPolicy, &kPrefillChunk};

halogen_status create(const halogen_config* config, halogen_scheduler** scheduler,
                      halogen_error* error) {
  return halogen::guarded(error, [&] {
    const halogen::Config settings(config);
    const auto prefill_chunk = static_cast<uint32_t>(settings.integer("prefill_chunk"));
    *scheduler = new halogen_scheduler{FirstCome(prefill_chunk)};
    return halogen_status{HALOGEN_OK};
  });
}

void destroy(halogen_scheduler* scheduler) {
  delete scheduler;
}

halogen_status plan(halogen_scheduler* scheduler, const halogen_schedule_view* view,
                    halogen_schedule_plan* plan, halogen_error* error) {
  return halogen::guarded(error, [&] {
    scheduler->policy.plan(*view, *plan);
    return halogen_status{HALOGEN_OK};
  });
}

}  // namespace

constexpr halogen_scheduler_factory factory = {
    sizeof(halogen_scheduler_factory), "scheduler", 2, kKeys, create, destroy, plan};

}  // namespace scheduler
