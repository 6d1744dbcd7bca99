// How an idle engine thread sleeps and is woken. A thread that has work never looks at it; a ring
// costs the ringing thread one atomic addition, and a system call only if somebody sleeps.
#pragma once

#include <atomic>

namespace halogen {

class Doorbell {
 public:
  // [any]
  void ring() noexcept {
    rings_.fetch_add(1, std::memory_order_release);
    rings_.notify_one();
  }

  // The sleeping thread: reads the count, then looks for work, and sleeps only if it found none; a
  // ring in between makes sleep() return at once.
  int listen() const noexcept { return rings_.load(std::memory_order_acquire); }
  void sleep(int listened) const noexcept { rings_.wait(listened, std::memory_order_acquire); }

 private:
  std::atomic<int> rings_{0};  // an int: what a futex waits on
};

}  // namespace halogen
