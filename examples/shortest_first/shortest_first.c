/* A scheduler in C: one request at a time, of those that wait the one with the shortest prompt.
 * What runs is never interrupted. */
#include <halogen/plugin.h>
#include <halogen/scheduler.h>
#include <string.h>

struct halogen_scheduler {
  int unused;
};
static halogen_scheduler only;

static halogen_status create(const halogen_config* config, halogen_scheduler** scheduler,
                             halogen_error* error) {
  (void)config, (void)error;
  *scheduler = &only;
  return HALOGEN_OK;
}

static void destroy(halogen_scheduler* scheduler) {
  (void)scheduler;
}

static uint32_t smaller(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

static halogen_status plan(halogen_scheduler* scheduler, const halogen_schedule_view* view,
                           halogen_schedule_plan* plan, halogen_error* error) {
  uint32_t chosen = 0, room;
  (void)scheduler, (void)error;
  if (view->n_requests == 0) return HALOGEN_OK;
  for (uint32_t i = 0; i < view->n_requests; i++) {
    if (view->states[i] == HALOGEN_REQUEST_RUNNING) {
      chosen = i;
      break;
    }
    if (view->waiting_tokens[i] < view->waiting_tokens[chosen]) chosen = i;
  }
  room = (view->blocks_held[chosen] + view->free_blocks) * view->block_tokens;
  plan->tokens[chosen] = smaller(smaller(view->waiting_tokens[chosen], view->token_budget),
                                 room - view->computed_tokens[chosen]);
  return HALOGEN_OK;
}

static const halogen_scheduler_factory factory = {
    sizeof(halogen_scheduler_factory), "shortest_first", 0, NULL, create, destroy, plan};

static halogen_status init(const halogen_host* host, halogen_error* error) {
  const char text[] = "the shortest prompt first";
  const halogen_string message = {text, sizeof text - 1};
  (void)error;
  host->log(host, HALOGEN_LOG_INFO, message);
  return HALOGEN_OK;
}

static void deinit(void) {}

static const void* get_factory(const char* kind) {
  return strcmp(kind, HALOGEN_SCHEDULER_KIND) == 0 ? &factory : NULL;
}

static const halogen_plugin_descriptor descriptor = {sizeof(halogen_plugin_descriptor),
                                                     "org.example.shortest-first",
                                                     "Shortest prompt first",
                                                     "1.0.0",
                                                     "Apache-2.0",
                                                     HALOGEN_UNLOAD};

HALOGEN_EXPORT extern const halogen_plugin halogen_plugin_entry;
const halogen_plugin halogen_plugin_entry = {sizeof(halogen_plugin),
                                             HALOGEN_ABI_MAJOR,
                                             HALOGEN_ABI_MINOR,
                                             0,
                                             0,
                                             &descriptor,
                                             init,
                                             deinit,
                                             get_factory};
