// The loop thread's side of the engine: accepts and refuses requests, and delivers events.
#include "core/engine/engine.h"

#include <algorithm>
#include <thread>
#include <unordered_map>
#include <utility>

#include "core/engine/admission.h"
#include "core/engine/engine_start.h"
#include "core/engine/step_loop.h"
#include "core/loop/wake_up.h"

namespace halogen {

namespace {

class ThreadedEngine final : public Engine {
 public:
  ThreadedEngine(EngineParts parts, const EngineLimits& limits, std::unique_ptr<TextSource> text)
      : parts_(std::move(parts)),
        limits_(limits),
        text_(std::move(text)),
        steps_(parts_, limits_, size_t{limits.max_sequences} + limits.queue_limit, *text_,
               [this] { wake_up_->ring(); }) {}

  Status begin(Loop& loop) {
    auto wake_up = WakeUp::create(loop, [this] { deliver(); });
    if (!wake_up) return wake_up.error();
    wake_up_ = std::move(*wake_up);
    thread_ = std::thread([this] { steps_.run(); });
    return {};
  }

  ~ThreadedEngine() override {
    if (!thread_.joinable()) return;
    steps_.stop();
    thread_.join();
    deliver();
  }

  Result<uint64_t> submit(GenerationRequest request, EventHandler on_event) override {
    if (!thread_.joinable()) return fail(HALOGEN_E_CANCELLED, "the engine is shutting down");
    if (held_ >= size_t{limits_.max_sequences} + limits_.queue_limit) {
      return fail(HALOGEN_E_BUSY, "the queue is full: " + std::to_string(held_) +
                                      " requests are unfinished; try again later");
    }
    const uint64_t id = last_id_ + 1;
    auto sequence = make_sequence(std::move(request), id, parts_, limits_, *text_);
    if (!sequence) return sequence.error();
    last_id_ = id;
    listeners_.emplace(id, Listener{std::move(on_event), sequence->get()});
    unfinished_.set(listeners_.size());
    held_++;
    steps_.submit(*sequence->release());  // comes back in EventBatch::retired
    return id;
  }

  void cancel(uint64_t request_id) override {
    auto found = listeners_.find(request_id);
    if (found == listeners_.end()) return;
    found->second.sequence->cancelled.store(true, std::memory_order_relaxed);
    forget(found);
    cancelled_.add(1);
  }

  EngineStats stats() const override {
    const EngineCounters& counters = steps_.counters();
    EngineStats stats;
    stats.requests_running = counters.running.get();
    stats.requests_waiting =
        unfinished_.get() - std::min(unfinished_.get(), stats.requests_running);
    stats.requests_finished = finished_.get();
    stats.requests_cancelled = cancelled_.get();
    stats.requests_failed = failed_.get();
    stats.mean_service_us = mean_service_us_.get();
    stats.preemptions = counters.preemptions.get();
    stats.plans_refused = counters.refused_plans.get();
    stats.prompt_tokens = counters.prompt_tokens.get();
    stats.generated_tokens = counters.generated_tokens.get();
    stats.steps = counters.steps.get();
    stats.blocks_used = counters.blocks_used.get();
    stats.blocks_total = limits_.total_blocks;
    stats.blocks_cached = counters.blocks_cached.get();
    stats.host_blocks_used = counters.host_blocks_used.get();
    stats.host_blocks_total = limits_.host_blocks;
    stats.cache_queried_tokens = counters.cache_queried_tokens.get();
    stats.cache_hit_tokens = counters.cache_hit_tokens.get();
    stats.cache_evicted_blocks = counters.cache_evicted_blocks.get();
    stats.blocks_stored = counters.blocks_stored.get();
    stats.blocks_loaded = counters.blocks_loaded.get();
    stats.last_step_us = counters.last_step_us.get();
    stats.last_progress_us = counters.last_progress_us.get();
    stats.plan_ns = counters.plan_ns.get();
    stats.assemble_ns = counters.assemble_ns.get();
    stats.wait_ns = counters.wait_ns.get();
    stats.sample_ns = counters.sample_ns.get();
    stats.text_ns = counters.text_ns.get();
    stats.device_bytes = counters.device_bytes.get();
    stats.device_operations = counters.device_operations.get();
    stats.device_ns = counters.device_ns.get();
    halogen_counters work{};
    work.struct_size = sizeof work;
    parts_.backend->counters(parts_.program, &work);
    stats.pending_weight_bytes = work.pending_weight_bytes;
    stats.bandwidth = limits_.bandwidth;
    stats.healthy = counters.healthy.load(std::memory_order_relaxed);
    return stats;
  }

  const EngineLimits& limits() const override { return limits_; }

 private:
  struct Listener {
    EventHandler on_event;
    Sequence* sequence;  // the engine thread's; only its `cancelled` flag is used here
  };
  using Listeners = std::unordered_map<uint64_t, Listener>;

  void deliver() {
    while (EventBatch* batch = steps_.outbox().take()) {
      held_ -= batch->retired.size();  // before their last events, whose handlers may submit
      for (size_t i = 0; i < batch->used; i++) deliver(batch->events[i]);
      for (Sequence* sequence : batch->retired) delete sequence;
      steps_.outbox().give_back(*batch);
    }
  }

  void deliver(const GenerationEvent& event) {
    auto found = listeners_.find(event.request_id);
    if (found == listeners_.end()) return;  // cancelled while the event was on its way
    // The handler may cancel this request or submit others, so it is called from a place of its
    // own, where no change of the table reaches it.
    EventHandler on_event = std::move(found->second.on_event);
    if (event.finish != FinishReason::none) {
      outcome_counter(event.finish).add(1);
      note_service(event);
      forget(found);
      on_event(event);
      return;
    }
    on_event(event);
    found = listeners_.find(event.request_id);
    if (found != listeners_.end()) found->second.on_event = std::move(on_event);
  }

  // Counted here and not on the engine thread, where a request may have finished that is cancelled
  // before anybody hears of it.
  Counter& outcome_counter(FinishReason reason) {
    if (reason == FinishReason::error) return failed_;
    return reason == FinishReason::cancelled ? cancelled_ : finished_;
  }

  // An average in which a request counts for an eighth, and its past for less and less.
  void note_service(const GenerationEvent& event) {
    if (event.finish != FinishReason::stop && event.finish != FinishReason::length) return;
    const uint64_t mean = mean_service_us_.get();
    const uint64_t latest = event.prefill_us + event.decode_us;
    mean_service_us_.set(mean == 0 ? latest : mean - mean / 8 + latest / 8);
  }

  void forget(Listeners::iterator listener) {
    listeners_.erase(listener);
    unfinished_.set(listeners_.size());
  }

  const EngineParts parts_;
  const EngineLimits limits_;
  const std::unique_ptr<TextSource> text_;
  Listeners listeners_;  // by request: all that are unfinished and not cancelled
  // Sequences that the engine thread has not handed back: also those that were cancelled, whose
  // memory is not free before.
  size_t held_ = 0;
  uint64_t last_id_ = 0;
  Counter unfinished_, finished_, failed_, cancelled_, mean_service_us_;
  std::unique_ptr<WakeUp> wake_up_;
  StepLoop steps_;
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<Engine>> start_engine(Loop& loop, EngineParts parts, EngineLimits limits,
                                             std::unique_ptr<TextSource> text) {
  if (Status sound = check_limits(limits); !sound) return sound.error();
  auto engine = std::make_unique<ThreadedEngine>(std::move(parts), limits, std::move(text));
  if (Status begun = engine->begin(loop); !begun) return begun.error();
  return std::unique_ptr<Engine>(std::move(engine));
}

}  // namespace halogen
