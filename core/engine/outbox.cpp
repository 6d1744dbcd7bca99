#include "core/engine/outbox.h"

namespace halogen {

namespace {

// Typical sizes of what a sequence gains in a step, so that the first steps find room as well.
constexpr size_t kReservedTokens = 32;
constexpr size_t kReservedText = 256;

void clear(GenerationEvent& event) {
  event.tokens.clear();
  event.text.clear();
  event.logprobs.clear();
  event.top_logprobs.clear();
  event.finish = FinishReason::none;
  event.error.clear();
}

}  // namespace

Outbox::Outbox(size_t live) {
  for (EventBatch& batch : batches_) {
    batch.events.resize(live);
    for (GenerationEvent& event : batch.events) {
      event.tokens.reserve(kReservedTokens);
      event.text.reserve(kReservedText);
      event.logprobs.reserve(kReservedTokens);
      event.top_logprobs.reserve(kReservedTokens);
    }
    batch.retired.reserve(live);
  }
}

EventBatch& Outbox::filling() {
  if (filling_ != nullptr) return *filling_;
  // Taking the batch back is the same exchange as the loop's taking it, so exactly one side has it.
  filling_ = slot_.exchange(nullptr, std::memory_order_acquire);
  if (filling_ == nullptr) {
    // The loop holds one batch at most, so one of the two is here.
    const bool first_is_free = !batches_[0].published.load(std::memory_order_acquire);
    filling_ = &batches_[first_is_free ? 0 : 1];
    filling_->used = 0;
    filling_->retired.clear();
    filling_->serial = ++serial_;
  }
  return *filling_;
}

GenerationEvent& Outbox::event_of(Sequence& sequence) {
  EventBatch& batch = filling();
  if (sequence.event_batch != batch.serial) {
    sequence.event_batch = batch.serial;
    sequence.event_index = batch.used++;
    if (batch.used > batch.events.size()) batch.events.emplace_back();
    GenerationEvent& event = batch.events[sequence.event_index];
    clear(event);
    event.request_id = sequence.id;
  }
  return batch.events[sequence.event_index];
}

void Outbox::retire(Sequence& sequence) {
  filling().retired.push_back(&sequence);
}

bool Outbox::publish() {
  if (filling_ == nullptr) return false;
  // Set before the loop can see the batch, cleared by the loop after delivering it.
  filling_->published.store(true, std::memory_order_relaxed);
  slot_.store(filling_, std::memory_order_release);
  filling_ = nullptr;
  return true;
}

EventBatch* Outbox::take() {
  // Releasing as well: when the engine finds the slot empty and this batch busy, it uses the other
  // one, which was given back before this one was taken.
  return slot_.exchange(nullptr, std::memory_order_acq_rel);
}

void Outbox::give_back(EventBatch& batch) {
  batch.published.store(false, std::memory_order_release);
}

}  // namespace halogen
