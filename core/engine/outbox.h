// How events travel from the engine thread to the loop thread without locks or allocation.
//
// Two batches of event records go round. The engine fills one while the loop delivers the other. A
// batch that the loop has not taken yet is taken back and filled further, each sequence's new
// tokens added to its event there; so a slow loop makes events larger and never more numerous.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/engine/request.h"
#include "core/engine/sequence.h"

namespace halogen {

struct EventBatch {
  std::vector<GenerationEvent> events;  // records beyond `used` keep their capacity for later
  size_t used = 0;
  std::vector<Sequence*> retired;      // the engine is done with these; the loop destroys them
  uint64_t serial = 0;                 // of the current filling
  std::atomic<bool> published{false};  // in the slot or being delivered
};

class Outbox {
 public:
  // `live` is how many sequences there are at most at any time; room for their events is reserved.
  explicit Outbox(size_t live);

  // The engine thread. The event of `sequence` in the batch being filled, empty if it is new.
  GenerationEvent& event_of(Sequence& sequence);
  // The engine thread. Gives `sequence` back; it is not touched again.
  void retire(Sequence& sequence);
  // The engine thread. Hands over what was filled. True if that is anything; then the loop has to
  // be woken, even where it was for an earlier filling of the same batch: it may have looked while
  // the batch was back here.
  bool publish();

  // The loop thread. The batch to deliver, or null; it is given back before the next is taken.
  EventBatch* take();
  void give_back(EventBatch& batch);

 private:
  EventBatch& filling();

  std::array<EventBatch, 2> batches_;
  std::atomic<EventBatch*> slot_{nullptr};
  EventBatch* filling_ = nullptr;  // the engine thread's
  uint64_t serial_ = 0;
};

}  // namespace halogen
