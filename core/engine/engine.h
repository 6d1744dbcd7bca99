// The engine: continuous batching of one served model on one thread.
//
// The loop thread submits requests and cancels them; the engine thread rebuilds the batch at every
// step (scheduler.plan -> backend.step -> sampler.sample -> text) and sends back what each sequence
// gained. The two share no lock: requests go through a mailbox, events come back through recycled
// records and one wake-up of the loop per step.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "halogen/backend.h"
#include "halogen/sampler.h"
#include "halogen/scheduler.h"

#include "core/base/result.h"
#include "core/engine/request.h"

namespace halogen {

namespace text {
class Tokenizer;
}
class Loop;

// What an engine runs on. The tables and handles belong to the caller and outlive the engine.
struct EngineParts {
  const halogen_backend_factory* backend = nullptr;
  halogen_program* program = nullptr;
  halogen_kv* kv = nullptr;
  halogen_states* states = nullptr;
  const halogen_sampler_factory* sampler = nullptr;
  halogen_sampler* sampler_instance = nullptr;
  const halogen_scheduler_factory* scheduler = nullptr;
  halogen_scheduler* scheduler_instance = nullptr;
  const text::Tokenizer* tokenizer = nullptr;
  // Of the model and what is added to its weights: the same tokens have other keys and values in
  // another one.
  uint64_t model_identity = 0;
  // Memory of the second KV tier, host_blocks * block_bytes; null where there is none.
  uint8_t* host_memory = nullptr;
  // Where the engine reports what no request is told: a refused plan, a failed step. Called on the
  // engine thread, seldom; may be empty.
  std::function<void(halogen_log_level, const std::string&)> log;
};

struct EngineLimits {
  uint32_t vocabulary_size = 0;
  uint32_t block_tokens = 16;
  uint32_t total_blocks = 0;
  uint32_t host_blocks = 0;           // of the second tier
  uint64_t block_bytes = 0;           // of a block in the canonical layout; for the second tier
  bool prefix_cache = true;           // requests share the beginnings of their texts
  uint32_t max_context = 0;           // positions of one sequence, prompt and answer together
  uint32_t max_batch_tokens = 0;      // tokens in a step
  uint32_t prefill_batch_tokens = 0;  // of those, prompt tokens
  uint32_t max_sequences = 0;         // running at once
  uint32_t queue_limit = 0;           // beyond max_sequences; then submit answers HALOGEN_E_BUSY
  uint32_t max_top_logprobs = 20;     // the most a request may ask for
  uint64_t step_timeout_us = 60'000'000;
  uint64_t target_token_interval_us = 0;  // wanted time between two tokens of a stream; 0: none
  double bandwidth = 0;  // of the memory that the device reads, bytes per second; 0: not known
};

struct EngineStats {
  uint64_t requests_running = 0, requests_waiting = 0;
  uint64_t requests_finished = 0, requests_cancelled = 0, requests_failed = 0, preemptions = 0;
  uint64_t plans_refused = 0;  // steps planned without the scheduler because it was at fault
  uint64_t prompt_tokens = 0;  // computed, of requests that have their first token
  uint64_t generated_tokens = 0, steps = 0;
  uint64_t blocks_used = 0, blocks_total = 0;
  uint64_t blocks_cached = 0;  // with content that no running request holds
  uint64_t host_blocks_used = 0, host_blocks_total = 0;
  // Tokens of requests at their admission, and those of them that were in the cache.
  uint64_t cache_queried_tokens = 0, cache_hit_tokens = 0;
  uint64_t cache_evicted_blocks = 0;              // thrown out of the last tier that had them
  uint64_t blocks_stored = 0, blocks_loaded = 0;  // to and from the second tier
  // What all steps took of the engine thread, by what it did; wait_ns is the device's time as the
  // thread sees it, the others are the host's.
  uint64_t plan_ns = 0, assemble_ns = 0, wait_ns = 0, sample_ns = 0, text_ns = 0;
  // What the backend counted.
  uint64_t device_bytes = 0, device_operations = 0, device_ns = 0;
  uint64_t pending_weight_bytes = 0;  // likewise
  double bandwidth = 0;               // the limits' own
  uint64_t mean_service_us = 0;       // of the last requests, from first step to end; 0: none yet
  uint64_t last_step_us = 0;          // duration of the last step
  uint64_t last_progress_us = 0;      // monotonic time at which the last step began or ended
  bool healthy = true;  // false after a step failed or timed out, until the device answers
                        // again, a step succeeds, or a cool-down has passed
};

class Engine {
 public:
  // [loop] Starts the engine thread. Events are delivered on `loop`'s thread. HALOGEN_E_INVALID
  // names a limit that cannot work.
  static Result<std::unique_ptr<Engine>> start(Loop& loop, EngineParts parts, EngineLimits limits);

  // [loop] Stops after the current step; unfinished requests end with FinishReason::cancelled,
  // delivered before the destructor returns. Not to be called from an event handler.
  virtual ~Engine() = default;

  // [loop] Queues a request. `on_event` is called on the loop thread for every event of this
  // request, the last one with a finish reason; it may submit and cancel. Takes time in proportion
  // to the prompt: with DRY 3 to 10 ms for 128 Ki tokens, for each choice of n. Errors:
  // HALOGEN_E_BUSY when max_sequences + queue_limit requests are unfinished (a cancelled one is
  // until the step that it was in has ended), HALOGEN_E_INVALID when prompt and max_tokens cannot
  // fit the context or the pool, or a sampling parameter is out of range (the message names it).
  virtual Result<uint64_t> submit(GenerationRequest request, EventHandler on_event) = 0;

  // [loop] Ends a request within one step; no event follows. Unknown and finished ids are ignored.
  virtual void cancel(uint64_t request_id) = 0;

  // [any] A consistent-enough snapshot for metrics and health.
  virtual EngineStats stats() const = 0;

  virtual const EngineLimits& limits() const = 0;
};

}  // namespace halogen
