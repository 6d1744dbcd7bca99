// SHA-256 (FIPS 180-4), for comparing with recorded digests.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace halogen::cpu::testing {

// The first 32 bits of the fractional part.
inline uint32_t fraction(double root) {
  return static_cast<uint32_t>((root - std::floor(root)) * 0x1p32);
}

inline std::string sha256(const void* data, size_t size) {
  std::array<uint32_t, 64> constants;
  std::array<uint32_t, 8> state;
  uint32_t prime = 2;
  for (size_t i = 0; i < 64; ++prime) {
    bool composite = false;
    for (uint32_t d = 2; d * d <= prime; ++d) composite |= prime % d == 0;
    if (composite) continue;
    constants[i] = fraction(std::cbrt(prime));
    if (i < 8) state[i] = fraction(std::sqrt(prime));
    ++i;
  }

  std::vector<uint8_t> message(size + 1 + (119 - size % 64) % 64 + 8, 0);
  std::memcpy(message.data(), data, size);
  message[size] = 0x80;
  for (size_t i = 0; i < 8; ++i)
    message[message.size() - 1 - i] = static_cast<uint8_t>(uint64_t{size} * 8 >> (8 * i));

  for (size_t at = 0; at < message.size(); at += 64) {
    std::array<uint32_t, 64> w;
    for (size_t i = 0; i < 16; ++i) {
      uint32_t word;
      std::memcpy(&word, &message[at + 4 * i], 4);
      w[i] = __builtin_bswap32(word);
    }
    for (size_t i = 16; i < 64; ++i) {
      const uint32_t a = w[i - 15];
      const uint32_t b = w[i - 2];
      w[i] = w[i - 16] + w[i - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) +
             (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (size_t i = 0; i < 64; ++i) {
      const uint32_t t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                          ((e & f) ^ (~e & g)) + constants[i] + w[i];
      const uint32_t t2 =
          (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const std::array<uint32_t, 8> added = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < 8; ++i) state[i] += added[i];
  }

  std::string text;
  for (const uint32_t word : state) {
    char digits[9];
    std::snprintf(digits, sizeof digits, "%08x", word);
    text += digits;
  }
  return text;
}

}  // namespace halogen::cpu::testing
