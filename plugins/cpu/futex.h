// Waiting for a 32-bit counter to move, with a time limit, which std::atomic's wait does not have.
#pragma once

#include <atomic>
#include <cstdint>

namespace halogen::cpu {

// A counter that threads wait for. It knows how many of them sleep, so that moving it costs a
// system call only where somebody does: the members of a team meet some hundred times a token, and
// nearly always before anybody has gone to sleep.
class Counter {
 public:
  // [any]
  uint32_t get() const { return value_.load(std::memory_order_acquire); }

  // [any] Adds 1 and wakes all who wait; the new value. What the caller wrote before is visible to
  // whoever sees it.
  uint32_t advance() {
    const uint32_t value = value_.fetch_add(1, std::memory_order_seq_cst) + 1;
    if (sleepers_.load(std::memory_order_seq_cst) > 0) wake();
    return value;
  }

  // [any] Returns when the counter no longer holds `value`; spins a little first, because the
  // pauses inside a step are short.
  void wait_while_equal(uint32_t value) const;

  // [any] The same without spinning, which would take a processor from those that work. False
  // when `timeout_us` microseconds pass first; UINT64_MAX waits for ever.
  bool sleep_while_equal(uint32_t value, uint64_t timeout_us = UINT64_MAX) const;

 private:
  void wake() const;

  std::atomic<uint32_t> value_{0};
  // Sequentially consistent with value_: a sleeper counts itself before the kernel compares the
  // value, so either it is counted when the value has moved, or it sees that it has.
  mutable std::atomic<uint32_t> sleepers_{0};
};

}  // namespace halogen::cpu
