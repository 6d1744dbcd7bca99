// A bounded queue between exactly two threads, one pushing and one popping, without locks and
// without allocation after construction.
//
// Each side owns one index and keeps a copy of the other's, which it refreshes only when the copy
// says full or empty. The two sides' members lie on different cache lines; together this makes a
// push or pop touch no line that the other core is writing, most of the time.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

namespace halogen {

// T is default constructible and movable.
template <typename T>
class SpscRing {
 public:
  // Holds `capacity` elements, rounded up to a power of two, at least 1.
  explicit SpscRing(size_t capacity)
      : mask_(std::bit_ceil(capacity) - 1), slots_(std::make_unique<T[]>(mask_ + 1)) {}
  SpscRing(const SpscRing&) = delete;
  SpscRing& operator=(const SpscRing&) = delete;

  size_t capacity() const { return mask_ + 1; }

  // The pushing thread. Returns false, and leaves `value` alone, when the ring is full.
  bool try_push(T&& value) {
    const size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_seen_ > mask_) {
      head_seen_ = head_.load(std::memory_order_acquire);
      if (tail - head_seen_ > mask_) return false;
    }
    slots_[tail & mask_] = std::move(value);
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }
  bool try_push(const T& value) { return try_push(T(value)); }

  // The popping thread. Empty when the ring is. The slot is left holding a default T, so that what
  // the element owned is not kept alive until the ring comes round again.
  std::optional<T> try_pop() {
    const size_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_seen_) {
      tail_seen_ = tail_.load(std::memory_order_acquire);
      if (head == tail_seen_) return std::nullopt;
    }
    std::optional<T> value(std::exchange(slots_[head & mask_], T()));
    head_.store(head + 1, std::memory_order_release);
    return value;
  }

 private:
  // A constant, since std::hardware_destructive_interference_size varies with compiler flags.
  static constexpr size_t kCacheLine = 64;

  const size_t mask_;
  const std::unique_ptr<T[]> slots_;
  // Indices count up for ever and are masked on use, so full and empty differ without a spare slot.
  alignas(kCacheLine) std::atomic<size_t> tail_{0};
  size_t head_seen_ = 0;
  alignas(kCacheLine) std::atomic<size_t> head_{0};
  size_t tail_seen_ = 0;
};

}  // namespace halogen
