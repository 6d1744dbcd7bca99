// The figures behind EngineStats that the engine thread writes and any thread reads. Each is exact;
// they need not belong to the same step.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace halogen {

// Written by one thread only, so adding needs no locked instruction.
class Counter {
 public:
  void add(uint64_t amount) { set(get() + amount); }
  void set(uint64_t value) { value_.store(value, std::memory_order_relaxed); }
  uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

struct EngineCounters {
  Counter running, preemptions, refused_plans;
  Counter prompt_tokens, generated_tokens, steps;
  Counter cache_queried_tokens, cache_hit_tokens, cache_evicted_blocks;
  Counter blocks_cached, host_blocks_used, blocks_stored, blocks_loaded;
  Counter blocks_used, last_step_us, last_progress_us;
  // Nanoseconds of the engine thread: planning a step, assembling its arrays, waiting for the
  // device, sampling, and text with events.
  Counter plan_ns, assemble_ns, wait_ns, sample_ns, text_ns;
  Counter device_bytes, device_operations, device_ns;  // as the backend counts them
  std::atomic<bool> healthy{true};
};

// [any] Nanoseconds of the monotonic clock.
inline uint64_t monotonic_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// Shares the time of one thread out among counters, without gaps.
class LapClock {
 public:
  void start() { last_ns_ = monotonic_ns(); }
  // Adds the time since the last lap, or the start.
  void lap(Counter& counter) {
    const uint64_t now_ns = monotonic_ns();
    counter.add(now_ns - last_ns_);
    last_ns_ = now_ns;
  }

 private:
  uint64_t last_ns_ = monotonic_ns();
};

// [any] Microseconds of the monotonic clock.
inline uint64_t monotonic_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

}  // namespace halogen
