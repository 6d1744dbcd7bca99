/* halogen SDK: schedulers, which decide what the next step computes.
 *
 * plan is a pure function of plain arrays: no device, no clock but the view's, no state that a
 * simulation could not set. The core checks the plan and refuses one that breaks a budget, so a
 * faulty scheduler can slow the server down but not corrupt it.
 */
#ifndef HALOGEN_SCHEDULER_H
#define HALOGEN_SCHEDULER_H

#include "halogen/base.h"
#include "halogen/config.h"

HALOGEN_BEGIN

#define HALOGEN_SCHEDULER_KIND "halogen.scheduler/1"

typedef struct halogen_scheduler halogen_scheduler;

enum { HALOGEN_REQUEST_WAITING = 0, HALOGEN_REQUEST_RUNNING = 1 };

/* What a request would get or lose in this step. */
enum {
  HALOGEN_KEEP = 0,
  HALOGEN_PREEMPT_RECOMPUTE = 1, /* give all blocks back; compute its tokens again later */
  HALOGEN_PREEMPT_SPILL = 2 /* move its blocks to the second tier; recompute where it is full */
};

/* The requests, in order of arrival, as arrays of n_requests. */
typedef struct halogen_schedule_view {
  uint32_t struct_size;
  uint32_t n_requests;
  const uint64_t* ids;
  const uint64_t* arrival_us;
  const int32_t* priorities;       /* larger wants to go first; 0 is ordinary */
  const uint8_t* states;           /* HALOGEN_REQUEST_… */
  const uint32_t* computed_tokens; /* already in the KV pool */
  const uint32_t*
      waiting_tokens; /* known but not computed: the rest of the prompt, or 1 when decoding */
  const uint32_t* cached_tokens; /* of a waiting request's computed ones: ready in the cache */
  const uint32_t* generated_tokens;
  const uint32_t* blocks_held; /* while it waits: cached ones that others hold */
  uint64_t now_us;
  uint32_t block_tokens;
  uint32_t free_blocks, total_blocks;
  uint32_t token_budget; /* tokens in a step */
  uint32_t
      prefill_budget; /* of those, tokens of requests still in their prompt: a wish, not checked */
  uint32_t max_sequences; /* running requests */
  /* What steps have cost lately, measured by the core; each is 0 while unknown. */
  double prefill_token_us;         /* of a prompt's token, what it costs by its context left out */
  double decode_step_us;           /* a step of nothing but the decodes of those that decode now */
  double target_token_interval_us; /* wanted time between two tokens of a stream; 0: none */

  /* Since ABI 1.1. Together with prefill_token_us these tell the cost of any step: step_us, and for
   * each prompt token prefill_token_us + prefill_context_us * (tokens before it), and for each
   * request that decodes decode_token_us + decode_context_us * (tokens before it). */
  double step_us; /* of a step whatever is in it: weights are read once */
  double decode_token_us;
  double prefill_context_us, decode_context_us;
} halogen_schedule_view;

/* Filled by plan; the arrays are the core's, n_requests long, all zero at the call. */
typedef struct halogen_schedule_plan {
  uint32_t struct_size;
  uint32_t*
      tokens; /* how many of the waiting tokens to compute now; > 0 admits a waiting request */
  uint8_t* preempt; /* HALOGEN_KEEP or HALOGEN_PREEMPT_… for running requests */
} halogen_schedule_plan;

typedef struct halogen_scheduler_factory {
  uint32_t struct_size;
  const char* name; /* what a profile calls it: "scheduler" */
  uint32_t n_config_keys;
  const halogen_config_key* const* config_keys;

  /* [worker] */
  halogen_status (*create)(const halogen_config* config, halogen_scheduler** scheduler,
                           halogen_error* error);
  void (*destroy)(halogen_scheduler* scheduler);

  /* [device] INVARIANTS of a plan, all of which the core checks:
   *   tokens[i] <= waiting_tokens[i]; the sum is within token_budget;
   *   with b(i) = ceil((computed + tokens) / block_tokens), the blocks that the planned requests
   * need beyond those they hold fit into free_blocks plus what preempted requests give back; a
   * preempted request gets no tokens; at most max_sequences requests are running after the step; if
   * any request waits and nothing runs, at least one gets tokens (no live-lock). */
  halogen_status (*plan)(halogen_scheduler* scheduler, const halogen_schedule_view* view,
                         halogen_schedule_plan* plan, halogen_error* error);
} halogen_scheduler_factory;

HALOGEN_END

#endif
