// A scheduler that serves one request at a time, first come, first served: the smallest one that
// keeps every invariant of halogen/scheduler.h.
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

halogen_status plan(halogen_scheduler*, const halogen_schedule_view* view,
                    halogen_schedule_plan* plan, halogen_error*) {
  if (view->n_requests == 0) return HALOGEN_OK;
  const uint32_t room = (view->blocks_held[0] + view->free_blocks) * view->block_tokens;
  plan->tokens[0] =
      std::min({view->waiting_tokens[0], view->token_budget, room - view->computed_tokens[0]});
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
