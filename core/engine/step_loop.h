// The engine thread: everything that happens in a step, in the order in which it happens.
//
// The loop thread reaches it only through submit() and stop(), a sequence's `cancelled` flag, and
// the outbox. All arrays are sized when it is made; a step that changes nothing about who is served
// allocates nothing and takes no lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/batch_sampler.h"
#include "core/engine/block_pool.h"
#include "core/engine/doorbell.h"
#include "core/engine/engine.h"
#include "core/engine/engine_counters.h"
#include "core/engine/kv_memory.h"
#include "core/engine/outbox.h"
#include "core/engine/planner.h"
#include "core/engine/repeated_work.h"
#include "core/engine/sequence.h"
#include "core/engine/step_builder.h"
#include "core/engine/step_costs.h"
#include "core/engine/text_sink.h"
#include "core/loop/mailbox.h"

namespace halogen {

class StepLoop {
 public:
  // `live` is how many sequences there are at most at any time. `wake_loop` must be callable on the
  // engine thread for as long as run() lasts, and not allocate.
  StepLoop(const EngineParts& parts, const EngineLimits& limits, size_t live,
           const TextSource& text, std::function<void()> wake_loop);
  ~StepLoop();

  // The engine thread's body: steps while there is something to do and sleeps while there is not.
  // Returns after stop(), with every sequence ended as cancelled and handed back.
  void run();

  // [loop] Hands a sequence over; it comes back as retired in a batch of events.
  void submit(Sequence& sequence);
  // [loop] Makes run() return after the current step.
  void stop();
  // [loop] Only take() and give_back().
  Outbox& outbox() { return outbox_; }
  // [any]
  const EngineCounters& counters() const { return counters_; }

 private:
  void step();
  void recover();

  void take_arrivals();
  void drop_cancelled();
  void preempt(const halogen_schedule_plan& plan);
  void choose_work(const halogen_schedule_plan& plan);
  void assemble();
  Status compute();
  void book_work();
  void record_computed();
  void take_tokens();
  void take_token(Sequence& sequence, size_t row);
  void remove_ended();
  void publish();

  Status finish_stuck_step(uint64_t timeout_us);
  void admit(Sequence& sequence);
  void begin_on_cached(PlannedWork& work);
  void stop_running(Sequence& sequence);
  void count_blocks();
  void end(Sequence& sequence, FinishReason reason, const std::string& error = {});
  void retire(Sequence& sequence);
  GenerationEvent& event_of(Sequence& sequence);
  void fail_requests(const std::string& error, bool waiting_too);

  const EngineParts parts_;
  const EngineLimits limits_;
  const TextSource& text_;
  const std::function<void()> wake_loop_;

  Mailbox<Sequence> arrivals_;
  Doorbell doorbell_;
  std::atomic<bool> stopping_{false};
  Outbox outbox_;
  EngineCounters counters_;
  LapClock clock_;

  std::vector<Sequence*> sequences_;  // waiting and running, in order of arrival
  std::vector<PlannedWork> work_;     // of the step
  KvMemory kv_;
  BlockPool state_slots_;
  Planner planner_;
  std::unique_ptr<StepBuilder> builder_;
  BatchSampler sampler_;
  StepCosts costs_;
  std::optional<uint64_t> stuck_ticket_;  // of a step that missed its deadline and may still run
};

}  // namespace halogen
