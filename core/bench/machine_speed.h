// What the machine can do at most, measured here and now: how fast all threads together read
// memory, and how many operations they do on values that never leave the registers.
#pragma once

#include <cstdint>

namespace halogen::bench {

struct MachineSpeed {
  double read_bandwidth = 0;        // bytes per second
  double quantised_operations = 0;  // per second: integer products of 8 bits; one is two operations
  double float_operations = 0;      // per second: multiply-adds of 32 bits; one is two operations
};

// Processors that this process may run on.
uint32_t usable_processors();

// [worker] Bytes per second that `threads` threads read from memory larger than the caches: the
// best of several sweeps, so that what else the machine does counts as little as possible. 0 where
// the memory for it cannot be had.
double measure_read_bandwidth(uint32_t threads);

// [worker] All three; takes about a second.
MachineSpeed measure_machine(uint32_t threads);

}  // namespace halogen::bench
