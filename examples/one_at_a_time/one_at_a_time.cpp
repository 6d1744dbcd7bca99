// A scheduler that serves one request at a time, by priority and then first come, first served: the
// smallest one that keeps every invariant of halogen/scheduler.h, which `halogen check` shows.
#include <algorithm>
#include <cstring>

#include <halogen/cxx/plugin.hpp>
#include <halogen/scheduler.h>

struct halogen_scheduler {};

namespace {

halogen::Host host;

halogen_status create(const halogen_config*, halogen_scheduler** scheduler, halogen_error*) {
  static halogen_scheduler only;
  *scheduler = &only;
  host.info("serving one request at a time");
  return HALOGEN_OK;
}

void destroy(halogen_scheduler*) {}

// Whoever runs already, else the first of the highest priority.
uint32_t chosen(const halogen_schedule_view& view) {
  uint32_t best = 0;
  for (uint32_t i = 0; i < view.n_requests; i++) {
    if (view.states[i] == HALOGEN_REQUEST_RUNNING) return i;
    if (view.priorities[i] > view.priorities[best]) best = i;
  }
  return best;
}

halogen_status plan(halogen_scheduler*, const halogen_schedule_view* view,
                    halogen_schedule_plan* plan, halogen_error*) {
  if (view->n_requests == 0) return HALOGEN_OK;
  const uint32_t one = chosen(*view);
  uint64_t blocks = uint64_t{view->blocks_held[one]} + view->free_blocks;
  // The scheduler in whose place this one came may have left others running.
  for (uint32_t i = 0; i < view->n_requests; i++) {
    if (i == one || view->states[i] != HALOGEN_REQUEST_RUNNING) continue;
    plan->preempt[i] = HALOGEN_PREEMPT_RECOMPUTE;
    blocks += view->blocks_held[i];
  }
  const uint64_t room = blocks * view->block_tokens - view->computed_tokens[one];
  plan->tokens[one] = static_cast<uint32_t>(
      std::min<uint64_t>({view->waiting_tokens[one], view->token_budget, room}));
  return HALOGEN_OK;
}

const halogen_scheduler_factory factory = {
    sizeof(halogen_scheduler_factory), "one_at_a_time", 0, nullptr, create, destroy, plan};

halogen_status init(halogen_error*) {
  return HALOGEN_OK;
}
void deinit() {}
const void* get_factory(const char* kind) {
  return std::strcmp(kind, HALOGEN_SCHEDULER_KIND) == 0 ? &factory : nullptr;
}

}  // namespace

HALOGEN_DEFINE_PLUGIN("org.example.one-at-a-time", "One request at a time", "1.0.0", "Apache-2.0",
                      host, init, deinit, get_factory);
