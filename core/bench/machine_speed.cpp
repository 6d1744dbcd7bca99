#include "core/bench/machine_speed.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/bench/register_loops.h"

namespace halogen::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kLeastSweep = uint64_t{512} << 20;
constexpr int kSweeps = 10;
constexpr uint64_t kLine = 64;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Runs `work` on every thread at once, `rounds` times; the seconds of the fastest round.
double fastest_round(uint32_t threads, int rounds,
                     const std::function<void(uint32_t thread)>& work) {
  double fastest = 0;
  Clock::time_point start;
  int edge = 0;  // rounds begin and end where all threads meet
  const auto at_edge = [&]() noexcept {
    if (edge++ % 2 == 0) {
      start = Clock::now();
    } else {
      const double seconds = seconds_since(start);
      fastest = fastest == 0 ? seconds : std::min(fastest, seconds);
    }
  };
  std::barrier meeting(threads, at_edge);
  const auto body = [&](uint32_t thread) {
    for (int round = 0; round < rounds; round++) {
      meeting.arrive_and_wait();
      work(thread);
      meeting.arrive_and_wait();
    }
  };
  std::vector<std::jthread> others;
  for (uint32_t thread = 1; thread < threads; thread++) others.emplace_back(body, thread);
  body(0);
  others.clear();
  return fastest;
}

// Anonymous memory that is given back at the end; null where there is none.
class Buffer {
 public:
  explicit Buffer(uint64_t bytes)
      : bytes_(bytes),
        data_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (data_ != MAP_FAILED) ::madvise(data_, bytes_, MADV_HUGEPAGE);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (data_ != MAP_FAILED) ::munmap(data_, bytes_);
  }
  uint8_t* data() const { return data_ == MAP_FAILED ? nullptr : static_cast<uint8_t*>(data_); }

 private:
  uint64_t bytes_;
  void* data_;
};

// Larger than all caches together.
uint64_t sweep_bytes() {
  const auto cache = static_cast<uint64_t>(std::max(0L, ::sysconf(_SC_LEVEL3_CACHE_SIZE)));
  return std::max(kLeastSweep, 4 * cache);
}

// Operations per second of a loop that says how many it did.
double operations_per_second(uint32_t threads, uint64_t (*loop)(uint64_t rounds)) {
  constexpr uint64_t kRounds = 200'000;
  std::atomic<uint64_t> operations{0};
  const double seconds = fastest_round(threads, 50, [&](uint32_t) { operations = loop(kRounds); });
  return seconds > 0 ? static_cast<double>(operations) * threads / seconds : 0;
}

}  // namespace

uint32_t usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
    return static_cast<uint32_t>(CPU_COUNT(&set));
  return std::max(1U, std::thread::hardware_concurrency());
}

double measure_read_bandwidth(uint32_t threads) {
  const uint64_t slice = sweep_bytes() / threads / kLine * kLine;
  const Buffer buffer(slice * threads);
  if (!buffer.data()) return 0;
  // Written before it is read: pages that nobody wrote are all the same page of zeros.
  fastest_round(threads, 1, [&](uint32_t thread) {
    std::fill_n(buffer.data() + thread * slice, slice, static_cast<uint8_t>(thread + 1));
  });
  const double seconds = fastest_round(threads, kSweeps, [&](uint32_t thread) {
    read_bytes(buffer.data() + thread * slice, slice);
  });
  return seconds > 0 ? static_cast<double>(slice * threads) / seconds : 0;
}

MachineSpeed measure_machine(uint32_t threads) {
  MachineSpeed speed;
  speed.read_bandwidth = measure_read_bandwidth(threads);
  speed.quantised_operations = operations_per_second(threads, best_integer_loop());
  speed.float_operations = operations_per_second(threads, best_float_loop());
  return speed;
}

}  // namespace halogen::bench
