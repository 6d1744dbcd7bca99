// What one core can do at most: the limit beside which benches of single kernels state their share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <benchmark/benchmark.h>
#include <time.h>

namespace halogen::bench {

// Of this thread, which a busy machine disturbs less than the clock on the wall.
inline double processor_seconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// `amount` a second in the fastest of `rounds` runs of `work`.
template <class Work>
double fastest_rate(double amount, int rounds, Work work) {
  double best = 0;
  for (int i = 0; i < rounds; i++) {
    const double start = processor_seconds();
    work();
    best = std::max(best, amount / (processor_seconds() - start));
  }
  return best;
}

// Reads whole runs of 128 bytes; the sum of their words.
inline uint64_t read_all(const std::vector<uint8_t>& bytes) {
  uint64_t sums[16] = {};
  for (size_t i = 0; i + sizeof sums <= bytes.size(); i += sizeof sums) {
    uint64_t words[16];
    std::memcpy(words, &bytes[i], sizeof words);
    for (size_t j = 0; j < 16; ++j) sums[j] += words[j];
  }
  uint64_t total = 0;
  for (const uint64_t sum : sums) total += sum;
  return total;
}

// Bytes per second of a plain sequential read of `bytes` bytes; measured once.
inline double read_bandwidth(size_t bytes) {
  static const double best = [bytes] {
    const std::vector<uint8_t> memory(bytes, 1);
    return fastest_rate(static_cast<double>(bytes), 20,
                        [&] { benchmark::DoNotOptimize(read_all(memory)); });
  }();
  return best;
}

}  // namespace halogen::bench
