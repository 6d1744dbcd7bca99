#include "plugins/cpu/futex.h"

#include <cerrno>
#include <chrono>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace halogen::cpu {
namespace {

constexpr int kSpins =
    2000;  // some tens of microseconds: about what a futex call and its wake-up cost

void pause_briefly() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

const uint32_t* address_of(const Counter& counter) {
  static_assert(sizeof(Counter) == sizeof(uint32_t) && Counter::is_always_lock_free);
  return reinterpret_cast<const uint32_t*>(&counter);
}

}  // namespace

bool wait_while_equal(const Counter& counter, uint32_t value, uint64_t timeout_us) {
  for (int i = 0; i < kSpins; i++) {
    if (counter.load(std::memory_order_acquire) != value) return true;
    pause_briefly();
  }
  using Clock = std::chrono::steady_clock;
  const bool limited = timeout_us < uint64_t{1} << 53;
  const auto deadline = Clock::now() + std::chrono::microseconds(limited ? timeout_us : 0);
  while (counter.load(std::memory_order_acquire) == value) {
    timespec left{};
    if (limited) {
      const auto remaining =
          std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - Clock::now()).count();
      if (remaining <= 0) return false;
      left.tv_sec = static_cast<time_t>(remaining / 1'000'000'000);
      left.tv_nsec = static_cast<long>(remaining % 1'000'000'000);
    }
    ::syscall(SYS_futex, address_of(counter), FUTEX_WAIT_PRIVATE, value, limited ? &left : nullptr,
              nullptr, 0);
  }
  return true;
}

void wake_all(const Counter& counter) {
  ::syscall(SYS_futex, address_of(counter), FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
}

}  // namespace halogen::cpu
