// The loops whose speed is the machine's ceiling, in the widest instructions that the processor
// has.
#pragma once

#include <cstdint>

namespace halogen::bench {

// Reads `bytes` bytes, a multiple of 64, once from the beginning to the end.
void read_bytes(const uint8_t* data, uint64_t bytes);

// Does `rounds` rounds of independent operations on registers; returns how many operations that
// were, a multiply-add being two.
using RegisterLoop = uint64_t (*)(uint64_t rounds);

// Products of 8-bit integers, summed.
RegisterLoop best_integer_loop();
// Multiply-adds of 32-bit floats.
RegisterLoop best_float_loop();

}  // namespace halogen::bench
