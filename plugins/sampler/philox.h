// Random numbers without a state: draw n of a seed is a function of the two, so a sequence draws
// the same numbers whatever else is in the batch and however often it is moved or recomputed.
//
// Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011: ten rounds of multiplying and mixing a 128-bit counter under a 64-bit key.
#pragma once

#include <array>
#include <cstdint>

namespace sampler {

using PhiloxCounter = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

constexpr PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < 10; round++) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

// Draw `index` of `seed`, uniform in [0, 1) with 53 bits. Each stream of a seed is a sequence of
// its own.
constexpr double uniform(uint64_t seed, uint64_t index, uint32_t stream = 0) {
  const PhiloxCounter bits =
      philox({static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), stream, 0},
             {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  const uint64_t word = uint64_t{bits[1]} << 32 | bits[0];
  return static_cast<double>(word >> 11) * 0x1p-53;
}

}  // namespace sampler
