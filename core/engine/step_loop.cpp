#include "core/engine/step_loop.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <thread>
#include <utility>

#include "core/base/call_plugin.h"
#include "core/engine/plan.h"

namespace halogen {
namespace {

constexpr uint64_t kRecoverySliceUs = 50'000;
constexpr uint64_t kCoolDownUs = 5'000'000;  // from a failed step to the next attempt

StepWork work_of(const StepBuilder& builder) {
  StepWork work;
  for (const StepPart& part : builder.parts()) {
    if (part.sequence->waiting() > 1) {
      work.add_prefill(part.sequence->computed, part.tokens);
    } else {
      work.add_decode(part.sequence->computed);
    }
  }
  return work;
}

}  // namespace

StepLoop::StepLoop(const EngineParts& parts, const EngineLimits& limits, size_t live,
                   const TextSource& text, std::function<void()> wake_loop)
    : parts_(parts),
      limits_(limits),
      text_(text),
      wake_loop_(std::move(wake_loop)),
      outbox_(live),
      kv_(parts_, limits),
      state_slots_(limits.max_sequences),
      planner_(parts_, limits, live),
      builder_(std::make_unique<StepBuilder>(limits, parts.states != nullptr)),
      sampler_(parts_, limits) {
  sequences_.reserve(live);
  work_.reserve(live);
}

StepLoop::~StepLoop() {
  // A device that hangs may write into the step's arrays at any time, so they are never freed.
  if (!finish_stuck_step(0)) {
    [[maybe_unused]] StepBuilder* never_freed = builder_.release();
  }
}

void StepLoop::run() {
  while (!stopping_.load(std::memory_order_acquire)) {
    const int listened = doorbell_.listen();
    clock_.start();
    take_arrivals();
    if (!sequences_.empty()) step();
    publish();
    clock_.lap(counters_.text_ns);
    if (!sequences_.empty() || !arrivals_.empty()) continue;
    if (!counters_.healthy.load(std::memory_order_relaxed)) {
      recover();
    } else if (!stopping_.load(std::memory_order_acquire)) {
      doorbell_.sleep(listened);
    }
  }
  take_arrivals();
  for (Sequence* sequence : sequences_) end(*sequence, FinishReason::cancelled);
  remove_ended();
  publish();
}

void StepLoop::submit(Sequence& sequence) {
  arrivals_.push(&sequence);
  doorbell_.ring();
}

void StepLoop::stop() {
  stopping_.store(true, std::memory_order_release);
  doorbell_.ring();
}

// Nothing runs, and the last step failed: whoever asks for readiness sends no request, so that the
// engine itself must find out whether it can serve again.
void StepLoop::recover() {
  if (stuck_ticket_) {
    if (finish_stuck_step(kRecoverySliceUs))
      counters_.healthy.store(true, std::memory_order_relaxed);
    return;
  }
  std::this_thread::sleep_for(std::chrono::microseconds(kRecoverySliceUs));
  if (monotonic_us() - counters_.last_progress_us.get() > kCoolDownUs) {
    counters_.healthy.store(true, std::memory_order_relaxed);
  }
}

void StepLoop::step() {
  counters_.last_progress_us.set(monotonic_us());
  if (Status finished = finish_stuck_step(limits_.step_timeout_us); !finished)
    return fail_requests(finished.error().message, true);

  const uint64_t started_us = monotonic_us();
  const halogen_schedule_plan& plan = planner_.next(sequences_, kv_, costs_, started_us);
  counters_.refused_plans.set(planner_.refused_count());
  preempt(plan);
  choose_work(plan);
  clock_.lap(counters_.plan_ns);
  assemble();
  clock_.lap(counters_.assemble_ns);
  if (builder_->empty()) return;  // only preemptions: the next plan uses the blocks they gave

  const StepWork work = work_of(*builder_);
  if (Status computed = compute(); !computed) return fail_requests(computed.error().message, false);
  clock_.lap(counters_.wait_ns);
  book_work();
  record_computed();
  if (Status sampled = sampler_.sample(*builder_); !sampled)
    return fail_requests(sampled.error().message, false);
  clock_.lap(counters_.sample_ns);
  take_tokens();
  remove_ended();

  const uint64_t ended_us = monotonic_us();
  costs_.measured(static_cast<double>(ended_us - started_us), work);
  counters_.steps.add(1);
  counters_.last_step_us.set(ended_us - started_us);
  counters_.last_progress_us.set(ended_us);
  counters_.healthy.store(true, std::memory_order_relaxed);
}

void StepLoop::take_arrivals() {
  auto batch = arrivals_.take_all();
  // Sequences cancelled before these were submitted go first, so that all fit the reserved arrays.
  drop_cancelled();
  while (Sequence* sequence = batch.pop()) {
    if (sequence->cancelled.load(std::memory_order_relaxed)) {
      retire(*sequence);
    } else {
      sequences_.push_back(sequence);
    }
  }
}

void StepLoop::drop_cancelled() {
  bool any = false;
  for (Sequence* sequence : sequences_) {
    if (!sequence->cancelled.load(std::memory_order_relaxed)) continue;
    sequence->ended = true;  // without an event: nobody listens any more
    any = true;
  }
  if (any) remove_ended();
}

void StepLoop::preempt(const halogen_schedule_plan& plan) {
  for (size_t i = 0; i < sequences_.size(); i++) {
    if (plan.preempt[i] == HALOGEN_KEEP) continue;
    // What the cache or the second tier has lost by then will be computed again like a longer
    // prompt. Sampling and text state stay as they are, so the stream goes on as if nothing had
    // happened.
    Sequence& sequence = *sequences_[i];
    if (plan.preempt[i] == HALOGEN_PREEMPT_SPILL) {
      kv_.spill(sequence);
    } else {
      kv_.release(sequence, true);
    }
    stop_running(sequence);
    counters_.preemptions.add(1);
  }
}

// Who gets on in this step. A preempted request gives only those blocks back that no other one
// holds, so there may be fewer than the plan counted on; whoever finds none left has another turn.
void StepLoop::choose_work(const halogen_schedule_plan& plan) {
  work_.clear();
  uint32_t available = kv_.available();
  for (size_t i = 0; i < sequences_.size(); i++) {
    if (plan.tokens[i] == 0) continue;
    Sequence& sequence = *sequences_[i];
    PlannedWork work{&sequence, sequence.computed, plan.tokens[i]};
    auto held = static_cast<uint32_t>(sequence.blocks.size());
    if (!sequence.running) {
      kv_.look_up(sequence);  // spilling may have thrown some of it out
      work.computed = kv_.ready_tokens(sequence);
      work.tokens = std::min(work.tokens, sequence.known() - work.computed);
      held = kv_.shared_blocks(sequence);
      if (kv_.shares() && is_computed_by_another(work, work_, limits_.block_tokens)) continue;
    }
    const uint32_t needed = blocks_for(uint64_t{work.computed} + work.tokens, limits_.block_tokens);
    const uint32_t lacking = needed - std::min(needed, held);
    if (lacking > available) continue;
    available -= lacking;
    work_.push_back(work);
  }
}

void StepLoop::assemble() {
  builder_->clear();
  for (const PlannedWork& work : work_)
    if (!work.sequence->running) kv_.pin(*work.sequence);
  for (PlannedWork& work : work_) {
    Sequence& sequence = *work.sequence;
    if (!sequence.running) begin_on_cached(work);
    kv_.cover(sequence, sequence.computed + work.tokens);
    builder_->add(sequence, work.tokens);
  }
  count_blocks();
}

// More may be there than the plan knew, which the step then leaves out.
void StepLoop::begin_on_cached(PlannedWork& work) {
  Sequence& sequence = *work.sequence;
  const bool first = sequence.first_step_us == 0;
  admit(sequence);
  kv_.attach(sequence);
  const uint32_t end = std::max(kv_.ready_tokens(sequence) + work.tokens, sequence.computed + 1);
  work.tokens = end - sequence.computed;
  counters_.cache_queried_tokens.add(sequence.tokens.size());
  counters_.cache_hit_tokens.add(sequence.computed);
  if (first) sequence.cached_tokens = sequence.computed;
}

void StepLoop::admit(Sequence& sequence) {
  sequence.running = true;
  sequence.state_slot = state_slots_.take();
  counters_.running.add(1);
  if (sequence.first_step_us == 0) sequence.first_step_us = monotonic_us();
}

Status StepLoop::compute() {
  uint64_t ticket = 0;
  Status status = call_plugin([&](halogen_error* error) {
    return parts_.backend->step_submit(parts_.program, parts_.kv, parts_.states, &builder_->step(),
                                       &ticket, error);
  });
  if (!status) return within("starting a step", status.error());
  status = call_plugin([&](halogen_error* error) {
    return parts_.backend->step_wait(parts_.program, ticket, limits_.step_timeout_us, error);
  });
  if (!status && status.error().status == HALOGEN_E_TIMEOUT) stuck_ticket_ = ticket;
  if (!status) return within("computing a step", status.error());
  return {};
}

// A step that missed its deadline still reads and writes its arrays: nothing else may be computed
// before it is done.
Status StepLoop::finish_stuck_step(uint64_t timeout_us) {
  if (!stuck_ticket_) return {};
  const Status status = call_plugin([&](halogen_error* error) {
    return parts_.backend->step_wait(parts_.program, *stuck_ticket_, timeout_us, error);
  });
  if (!status && status.error().status == HALOGEN_E_TIMEOUT)
    return within("waiting for a step that hangs", status.error());
  stuck_ticket_.reset();
  return {};
}

void StepLoop::book_work() {
  halogen_counters work{};
  work.struct_size = sizeof work;
  parts_.backend->counters(parts_.program, &work);
  const auto device_ns = static_cast<uint64_t>(work.device_seconds * 1e9);
  counters_.device_bytes.add(work.bytes);
  counters_.device_operations.add(work.operations);
  counters_.device_ns.add(device_ns);
  const uint64_t tokens = builder_->step().n_tokens;
  for (const StepPart& part : builder_->parts()) {
    Sequence& sequence = *part.sequence;
    RequestWork& booked =
        sequence.first_token_us == 0 ? sequence.prefill_work : sequence.decode_work;
    booked.bytes += work.bytes * part.tokens / tokens;
    booked.operations += work.operations * part.tokens / tokens;
    booked.step_bytes += work.bytes;
    booked.step_ns += device_ns;
  }
}

void StepLoop::record_computed() {
  for (const StepPart& part : builder_->parts()) {
    part.sequence->computed += part.tokens;
    kv_.record(*part.sequence);
  }
}

void StepLoop::take_tokens() {
  size_t row = 0;
  for (const StepPart& part : builder_->parts())
    if (part.has_row) take_token(*part.sequence, row++);
}

void StepLoop::take_token(Sequence& sequence, size_t row) {
  const int32_t token = sampler_.token(row);
  if (token < 0 || std::cmp_greater_equal(token, limits_.vocabulary_size)) {
    return end(
        sequence, FinishReason::error,
        "no token can be chosen: the model's output is not a number, or the biases and masks "
        "of the request ban every token");
  }
  sequence.tokens.push_back(token);
  parts_.sampler->accept(sequence.sampling.get(), &token, 1);
  if (sequence.first_token_us == 0) {
    sequence.first_token_us = monotonic_us();
    counters_.prompt_tokens.add(sequence.prompt_tokens - sequence.cached_tokens);
  }
  counters_.generated_tokens.add(1);

  GenerationEvent& event = event_of(sequence);
  event.tokens.push_back(token);
  if (sequence.top_logprobs >= 0) {
    event.logprobs.push_back(sampler_.logprob(row));
    sampler_.append_top(row, sequence.top_logprobs, event.top_logprobs);
  }
  if (!sequence.ignore_eos && text_.ends_generation(token)) {
    sequence.text->finish(event.text);
    end(sequence, FinishReason::stop);
  } else if (sequence.text->push(token, event.text)) {
    end(sequence, FinishReason::stop);
  } else if (sequence.generated() == sequence.max_tokens) {
    sequence.text->finish(event.text);
    end(sequence, FinishReason::length);
  }
}

GenerationEvent& StepLoop::event_of(Sequence& sequence) {
  GenerationEvent& event = outbox_.event_of(sequence);
  event.prompt_tokens = sequence.prompt_tokens;
  event.cached_tokens = sequence.cached_tokens;
  event.generated_tokens = sequence.generated();
  const uint64_t now_us = monotonic_us();
  auto passed = [now_us](uint64_t from, uint64_t to) {
    return from == 0 ? 0 : (to == 0 ? now_us : to) - from;
  };
  event.queued_us = passed(sequence.submitted_us, sequence.first_step_us);
  event.prefill_us = passed(sequence.first_step_us, sequence.first_token_us);
  event.decode_us = passed(sequence.first_token_us, 0);
  event.prefill_work = sequence.prefill_work;
  event.decode_work = sequence.decode_work;
  return event;
}

void StepLoop::end(Sequence& sequence, FinishReason reason, const std::string& error) {
  GenerationEvent& event = event_of(sequence);
  event.finish = reason;
  sequence.failed = reason == FinishReason::error;
  event.error = error;
  sequence.ended = true;
}

// Ends what runs, and what waits too when nothing can be computed at all. Retiring the backend and
// moving the sequences to another one would begin here.
void StepLoop::fail_requests(const std::string& error, bool waiting_too) {
  counters_.healthy.store(false, std::memory_order_relaxed);
  if (parts_.log) parts_.log(HALOGEN_LOG_ERROR, error);
  for (Sequence* sequence : sequences_)
    if (sequence->running || waiting_too) end(*sequence, FinishReason::error, error);
  remove_ended();
  kv_.clear();
}

void StepLoop::remove_ended() {
  std::erase_if(sequences_, [this](Sequence* sequence) {
    if (!sequence->ended) return false;
    retire(*sequence);
    return true;
  });
  count_blocks();
#ifndef NDEBUG
  if (sequences_.empty()) assert(kv_.fault({}).empty());
#endif
}

void StepLoop::retire(Sequence& sequence) {
  const bool keep = sequence.root == 0 && !sequence.failed;
  if (sequence.running) {
    kv_.release(sequence, keep);
    stop_running(sequence);
  } else if (!keep) {
    kv_.forget(sequence);
  }
  outbox_.retire(sequence);
}

void StepLoop::stop_running(Sequence& sequence) {
  state_slots_.release(sequence.state_slot);
  sequence.running = false;
  counters_.running.set(counters_.running.get() - 1);
}

void StepLoop::count_blocks() {
  counters_.blocks_used.set(kv_.used());
  counters_.blocks_cached.set(kv_.cached());
  counters_.host_blocks_used.set(kv_.cached_in_tier());
  counters_.cache_evicted_blocks.set(kv_.thrown_out_count());
  counters_.blocks_stored.set(kv_.stored_count());
  counters_.blocks_loaded.set(kv_.loaded_count());
}

void StepLoop::publish() {
  if (outbox_.publish()) wake_loop_();
}

}  // namespace halogen
