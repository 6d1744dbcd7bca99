#include "factory.h"

#include <new>
#include <string>

#include "halogen/cxx/plugin.hpp"

#include "costs.h"
#include "order.h"
#include "turn.h"

struct halogen_scheduler {
  scheduler::Order order;  // a function of each view alone, kept so that it need not allocate again
  uint32_t prefill_chunk;
};

namespace scheduler {

namespace {

constexpr halogen_config_key kPolicy = {
    sizeof(halogen_config_key),
    HALOGEN_CONFIG_STRING,
    "policy",
    "shortest-first",
    "Whose prompt is computed first. shortest-first: that of the highest priority, then the one "
    "with "
    "the least left to compute; priority: that of the highest priority, then the one that came "
    "first; first-come: the one that came first. The oldest always gets a quarter of the time.",
    0,
    0,
    "shortest-first|first-come|priority",
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

Policy policy_named(const std::string& name) {
  if (name == "first-come") return Policy::first_come;
  return name == "priority" ? Policy::priority : Policy::shortest_first;
}

halogen_status create(const halogen_config* config, halogen_scheduler** scheduler,
                      halogen_error* error) {
  return halogen::guarded(error, [&] {
    const halogen::Config settings(config);
    const auto prefill_chunk = static_cast<uint32_t>(settings.integer("prefill_chunk"));
    *scheduler = new halogen_scheduler{Order(policy_named(settings.text("policy"))), prefill_chunk};
    return halogen_status{HALOGEN_OK};
  });
}

void destroy(halogen_scheduler* scheduler) {
  delete scheduler;
}

halogen_status plan(halogen_scheduler* scheduler, const halogen_schedule_view* view,
                    halogen_schedule_plan* plan, halogen_error* error) {
  return halogen::guarded(error, [&] {
    const Costs costs(*view);
    scheduler->order.sort(*view, costs);
    Turn(*view, *plan, scheduler->order, costs, scheduler->prefill_chunk).plan();
    return halogen_status{HALOGEN_OK};
  });
}

}  // namespace

constexpr halogen_scheduler_factory factory = {
    sizeof(halogen_scheduler_factory), "scheduler", 2, kKeys, create, destroy, plan};

}  // namespace scheduler
