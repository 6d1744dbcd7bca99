/* A scheduler in C: one request at a time, by priority and then the shortest prompt first. */
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

/* When the turn of a waiting request is: each token of a prompt counts as a millisecond of waiting,
 * so that no stream of short prompts holds up a long one for ever. */
static uint64_t turn(const halogen_schedule_view* view, uint32_t i) {
  return view->arrival_us[i] + 1000 * (uint64_t)view->waiting_tokens[i];
}

static int before(const halogen_schedule_view* view, uint32_t a, uint32_t b) {
  if (view->priorities[a] != view->priorities[b]) return view->priorities[a] > view->priorities[b];
  return turn(view, a) < turn(view, b);
}

static halogen_status plan(halogen_scheduler* scheduler, const halogen_schedule_view* view,
                           halogen_schedule_plan* plan, halogen_error* error) {
  uint32_t one = 0;
  (void)scheduler, (void)error;
  if (view->n_requests == 0) return HALOGEN_OK;
  for (uint32_t i = 0; i < view->n_requests; i++) {
    const bool running = view->states[i] == HALOGEN_REQUEST_RUNNING;
    if (running || before(view, i, one)) one = i;
    if (running) break;
  }
  uint64_t blocks = (uint64_t)view->blocks_held[one] + view->free_blocks;
  /* The scheduler in whose place this one came may have left others running. */
  for (uint32_t i = one + 1; i < view->n_requests; i++) {
    if (view->states[i] != HALOGEN_REQUEST_RUNNING) continue;
    plan->preempt[i] = HALOGEN_PREEMPT_RECOMPUTE;
    blocks += view->blocks_held[i];
  }
  const uint64_t room = blocks * view->block_tokens - view->computed_tokens[one];
  uint32_t tokens = view->waiting_tokens[one];
  if (tokens > view->token_budget) tokens = view->token_budget;
  plan->tokens[one] = tokens < room ? tokens : (uint32_t)room;
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

static const halogen_plugin_descriptor descriptor = {
    sizeof descriptor, "org.example.shortest-first", "Shortest prompt first", "1.0.0", "Apache-2.0",
    HALOGEN_UNLOAD};

HALOGEN_EXPORT extern const halogen_plugin halogen_plugin_entry;
const halogen_plugin halogen_plugin_entry = {sizeof halogen_plugin_entry,
                                             HALOGEN_ABI_MAJOR,
                                             HALOGEN_ABI_MINOR,
                                             0,
                                             0,
                                             &descriptor,
                                             init,
                                             deinit,
                                             get_factory};
