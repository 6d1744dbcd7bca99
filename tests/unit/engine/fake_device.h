// A backend whose output depends on everything that the engine can get wrong.
//
// It keeps the token and the position that were written to each slot of its KV pool, and makes the
// logits of a row from a hash of the whole context, read back through the block table it was given.
// A wrong slot, position, block table, length or row therefore changes the tokens that come out,
// and model_logits() says what they should have been. Blocks that sequences share may only be read.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "halogen/backend.h"

namespace halogen::fake {

// The logits after `context`, a function of its tokens alone.
std::vector<float> model_logits(std::span<const int32_t> context, uint32_t vocabulary_size);

class Device {
 public:
  Device(uint32_t vocabulary_size, uint32_t block_tokens, uint32_t blocks);

  static const halogen_backend_factory& factory();
  halogen_program* program() { return reinterpret_cast<halogen_program*>(this); }
  halogen_kv* kv() { return reinterpret_cast<halogen_kv*>(this); }

  // What a test may set before the engine starts, or on the engine thread from the hooks.
  std::function<void(const halogen_step&)> before_step;  // in step_submit
  std::function<void()> after_step;                      // when step_wait returns
  halogen_status submit_status = HALOGEN_OK;             // of the next submit; then reset
  halogen_status wait_status = HALOGEN_OK;               // of the next wait; then reset
  static constexpr int kForever = -1;
  std::atomic<int> hanging_waits = 0;  // so many waits time out first
  bool imports_fail = false, exports_fail = false, copies_fail = false;

  // What is inconsistent in the steps so far; empty when all is well. [any]
  std::vector<std::string> faults() const;
  // What a step costs, as counters() says: 1000 bytes and 10 for each token; 3 operations a token;
  // 2 microseconds.
  static constexpr uint64_t kStepBytes = 1000, kTokenBytes = 10, kTokenOperations = 3;
  static constexpr double kStepSeconds = 2e-6;
  // Largest number of sequences and tokens in a step so far; valid when the engine is gone.
  uint32_t most_sequences = 0, most_tokens = 0;
  uint32_t steps = 0;
  uint64_t tokens = 0;  // computed
  uint32_t copies = 0;  // of blocks
  uint64_t block_bytes() const { return block_tokens_ * sizeof(Slot); }

 private:
  struct Slot {
    int32_t token = -1;
    int32_t position = -1;
  };

  halogen_status submit(const halogen_step& step, uint64_t& ticket, halogen_error* error);
  halogen_status wait(uint64_t ticket, halogen_error* error);
  Slot* slots_of(uint32_t block) { return slots_.data() + size_t{block} * block_tokens_; }
  void copy(uint32_t from, uint32_t to);
  void count(halogen_counters& counters) const;
  void check(const halogen_step& step);
  void compute(const halogen_step& step);
  void fault(const std::string& what);

  const uint32_t vocabulary_size_, block_tokens_;
  std::vector<Slot> slots_;
  halogen_step pending_{};
  uint64_t ticket_ = 0;
  bool in_flight_ = false;
  mutable std::mutex mutex_;
  std::vector<std::string> faults_;
};

}  // namespace halogen::fake
