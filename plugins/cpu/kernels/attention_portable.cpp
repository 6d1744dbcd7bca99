// Attention in plain C++: the compiler's own vectors of four floats.
#include "plugins/cpu/kernels/attention_driver.h"
#include "plugins/cpu/kernels/kernel_parts.h"

namespace halogen::cpu::portable {
namespace {

struct Vector {
  using F = float __attribute__((vector_size(16)));
  using I = int32_t __attribute__((vector_size(16)));
  static constexpr uint32_t kLanes = 4;
  static constexpr int kRows = 4;  // of a product at a time, so that the sums fit the registers
  static constexpr uint32_t kPartsThatConvert = 1;  // of F32 and F16, where that is cheaper

  static F zero() { return F{}; }
  static F set(float value) { return F{value, value, value, value}; }
  static F broadcast(const float* from) { return set(*from); }
  static F load(const float* from) {
    F value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  static void store(float* to, F value) { std::memcpy(to, &value, sizeof value); }

  static F add(F a, F b) { return a + b; }
  static F subtract(F a, F b) { return a - b; }
  static F multiply(F a, F b) { return a * b; }
  static F multiply_add(F a, F b, F c) { return a * b + c; }
  static F maximum(F a, F b) { return b > a ? b : a; }  // a NaN in b does not win
  // value, but 0 where x < limit
  static F zero_where_below(F value, F x, F limit) { return x < limit ? F{} : value; }
  // 2^n for shifted = n + kRoundingShift
  static F power_of_two(F shifted) {
    I bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 127) << 23;
    F power;
    std::memcpy(&power, &bits, sizeof power);
    return power;
  }
  static float sum_lanes(F v) { return (v[0] + v[2]) + (v[1] + v[3]); }
  static float largest_lane(F v) {
    float largest = v[0];
    for (uint32_t i = 1; i < kLanes; i++) largest = v[i] > largest ? v[i] : largest;
    return largest;
  }

  static F broadcast_f16(uint16_t half) { return set(f16_to_f32(half)); }
  // kLanes halves at an address aligned as a half
  static F load_f16(const uint8_t* from) {
    uint16_t halves[kLanes];
    std::memcpy(halves, from, sizeof halves);
    return F{f16_to_f32(halves[0]), f16_to_f32(halves[1]), f16_to_f32(halves[2]),
             f16_to_f32(halves[3])};
  }
  static F load_i8(const int8_t* from) {
    return F{static_cast<float>(from[0]), static_cast<float>(from[1]), static_cast<float>(from[2]),
             static_cast<float>(from[3])};
  }
  // The low or the high nibbles of kLanes bytes, less 8
  static F load_nibbles(const uint8_t* from, bool high) {
    int8_t codes[kLanes];
    for (uint32_t i = 0; i < kLanes; i++)
      codes[i] = static_cast<int8_t>((high ? from[i] >> 4 : from[i] & 15) - 8);
    return load_i8(codes);
  }
};

}  // namespace

void add_attention_kernels(KernelSet& set) {
  set.attend = Attention<Vector>::attend;
}

}  // namespace halogen::cpu::portable
