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

const uint32_t* address_of(const std::atomic<uint32_t>& value) {
  static_assert(sizeof value == sizeof(uint32_t) && std::atomic<uint32_t>::is_always_lock_free);
  return reinterpret_cast<const uint32_t*>(&value);
}

}  // namespace

void Counter::wait_while_equal(uint32_t value) const {
  for (int i = 0; i < kSpins; i++) {
    if (get() != value) return;
    pause_briefly();
  }
  sleep_while_equal(value);
}

bool Counter::sleep_while_equal(uint32_t value, uint64_t timeout_us) const {
  using Clock = std::chrono::steady_clock;
  const bool limited = timeout_us < uint64_t{1} << 53;
  const auto deadline = Clock::now() + std::chrono::microseconds(limited ? timeout_us : 0);
  while (get() == value) {
    timespec left{};
    if (limited) {
      const auto remaining =
          std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - Clock::now()).count();
      if (remaining <= 0) return false;
      left.tv_sec = static_cast<time_t>(remaining / 1'000'000'000);
      left.tv_nsec = static_cast<long>(remaining % 1'000'000'000);
    }
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    ::syscall(SYS_futex, address_of(value_), FUTEX_WAIT_PRIVATE, value, limited ? &left : nullptr,
              nullptr, 0);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }
  return true;
}

void Counter::wake() const {
  ::syscall(SYS_futex, address_of(value_), FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
}

}  // namespace halogen::cpu
