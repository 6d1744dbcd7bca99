// Waiting for a 32-bit counter to move, with a time limit, which std::atomic's wait does not have.
#pragma once

#include <atomic>
#include <cstdint>

namespace halogen::cpu {

using Counter = std::atomic<uint32_t>;

// Returns when `counter` no longer holds `value` or `timeout_us` microseconds have passed; spins a
// little first, because a step's pauses are short. False on a time-out. UINT64_MAX waits for ever.
bool wait_while_equal(const Counter& counter, uint32_t value, uint64_t timeout_us = UINT64_MAX);

// Wakes everybody who waits for the counter; after it was changed.
void wake_all(const Counter& counter);

}  // namespace halogen::cpu
