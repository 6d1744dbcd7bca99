// Everything that works on plain F32 vectors, in plain C++ whose loops vectorise. Compiled once per
// instruction set from this one source, without fused multiply-add and with sums in a fixed tree of
// eight lanes, so that all sets give the same bits.
//
// Implementation header: in an unnamed namespace, see float_formats.h.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "plugins/cpu/kernels/block_unpack.h"
#include "plugins/cpu/kernels/float_formats.h"
#include "plugins/cpu/kernels/kernel_set.h"
#include "plugins/cpu/kernels/key_groups.h"
#include "plugins/cpu/kernels/scalar_math.h"

namespace halogen::cpu {
namespace {

// --- weights
// ---------------------------------------------------------------------------------------

bool dequantise(halogen_type type, const void* row, size_t n, float* out) {
  const auto* halves = static_cast<const uint16_t*>(row);
  switch (type) {
    case HALOGEN_F32:
      std::memcpy(out, row, n * sizeof(float));
      return true;
    case HALOGEN_F16:
      for (size_t i = 0; i < n; ++i) out[i] = f16_to_f32(halves[i]);
      return true;
    case HALOGEN_BF16:
      for (size_t i = 0; i < n; ++i) out[i] = bf16_to_f32(halves[i]);
      return true;
    default:
      break;
  }
  return visit_quantised(type, [&]<class Format>() {
    constexpr size_t kElements = sizeof(typename Format::Block) < 40 ? kBlock : kSuperBlock;
    const auto* blocks = static_cast<const typename Format::Block*>(row);
    for (size_t b = 0; b < n / kElements; ++b)
      dequantise_block<Format>(blocks[b], out + b * kElements);
  });
}

// --- activations
// -----------------------------------------------------------------------------------

// Quantises N elements; returns the scale. Works on the bits of magnitudes, which order
// like the magnitudes themselves with NaNs above everything.
template <int N>
inline float quantise_block(const float* x, int8_t* q) {
  uint32_t largest = 0;
  for (int i = 0; i < N; ++i) {
    const uint32_t magnitude = bits_of(x[i]) & 0x7fffffffu;
    largest = magnitude > largest ? magnitude : largest;
  }
  if (largest >= 0x7f800000u || largest < bits_of(0x1p-100f)) {
    std::memset(q, 0, N);
    return largest >= 0x7f800000u ? float_of(0x7fc00000u) : 0.0f;
  }
  const float inverse = 127.0f / float_of(largest);
  // 1.5 * 2^23 puts the integer, rounded to nearest even, into the low bits of the sum.
  for (int i = 0; i < N; ++i)
    q[i] = static_cast<int8_t>(
        static_cast<int32_t>(bits_of(x[i] * inverse + kRoundingShift) - kRoundingShiftBits));
  return float_of(largest) / 127.0f;
}

void quantise_q8_blocks(const float* x, size_t k, Q8Block* out) {
  for (size_t b = 0; b < k / kBlock; ++b) {
    out[b].scale = quantise_block<kBlock>(x + b * kBlock, out[b].q);
    int32_t sum = 0;
    for (int i = 0; i < kBlock; ++i) sum += out[b].q[i];
    out[b].sum = out[b].scale * static_cast<float>(sum);
    out[b].negative_sum = -sum;
  }
}

void quantise_q8_superblocks(const float* x, size_t k, Q8SuperBlock* out) {
  for (size_t b = 0; b < k / kSuperBlock; ++b) {
    out[b].scale = quantise_block<kSuperBlock>(x + b * kSuperBlock, out[b].q);
    for (int j = 0; j < 16; ++j) {
      int32_t sum = 0;
      for (int i = 0; i < 16; ++i) sum += out[b].q[16 * j + i];
      out[b].sums[j] = static_cast<int16_t>(sum);
    }
    std::memset(out[b].padding, 0, sizeof out[b].padding);
  }
}

void convert_f32_to_f16(const float* x, size_t n, uint16_t* out) {
  for (size_t i = 0; i < n; ++i) out[i] = f32_to_f16(x[i]);
}
void convert_f16_to_f32(const uint16_t* x, size_t n, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = f16_to_f32(x[i]);
}
void convert_f32_to_bf16(const float* x, size_t n, uint16_t* out) {
  for (size_t i = 0; i < n; ++i) out[i] = f32_to_bf16(x[i]);
}
void convert_bf16_to_f32(const uint16_t* x, size_t n, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = bf16_to_f32(x[i]);
}

// --- norms
// -----------------------------------------------------------------------------------------

// Sum of term(i) over i < n in eight lanes, lane i % 8; the lanes come together in a fixed tree.
template <class Number, class Term>
inline Number sum_of(size_t n, Term term) {
  Number lane[8] = {};
  size_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (size_t l = 0; l < 8; ++l) lane[l] += term(i + l);
  for (size_t l = 0; i + l < n; ++l) lane[l] += term(i + l);
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

void rms_norm(const float* x, const float* weight, float epsilon, size_t n, float* out) {
  const double squares = sum_of<double>(
      n, [x](size_t i) { return static_cast<double>(x[i]) * static_cast<double>(x[i]); });
  const auto factor = static_cast<float>(
      1.0 / __builtin_sqrt(squares / static_cast<double>(n) + static_cast<double>(epsilon)));
  if (weight) {
    for (size_t i = 0; i < n; ++i) out[i] = x[i] * factor * weight[i];
  } else {
    for (size_t i = 0; i < n; ++i) out[i] = x[i] * factor;
  }
}

void layer_norm(const float* x, const float* weight, const float* bias, float epsilon, size_t n,
                float* out) {
  const double mean = sum_of<double>(n, [x](size_t i) { return static_cast<double>(x[i]); }) /
                      static_cast<double>(n);
  const double squares = sum_of<double>(n, [x, mean](size_t i) {
    const double distance = static_cast<double>(x[i]) - mean;
    return distance * distance;
  });
  const double factor =
      1.0 / __builtin_sqrt(squares / static_cast<double>(n) + static_cast<double>(epsilon));
  for (size_t i = 0; i < n; ++i)
    out[i] = static_cast<float>((static_cast<double>(x[i]) - mean) * factor);
  if (weight)
    for (size_t i = 0; i < n; ++i) out[i] *= weight[i];
  if (bias)
    for (size_t i = 0; i < n; ++i) out[i] += bias[i];
}

// --- elementwise
// -----------------------------------------------------------------------------------

void rope(float* x, size_t n_heads, size_t head_stride, size_t rotary_dim, const float* cosine,
          const float* sine, RopePairing pairing) {
  const size_t pairs = rotary_dim / 2;
  for (size_t h = 0; h < n_heads; ++h) {
    float* head = x + h * head_stride;
    if (pairing == RopePairing::kHalves) {
      float* other = head + pairs;
      for (size_t i = 0; i < pairs; ++i) {
        const float a = head[i];
        const float b = other[i];
        head[i] = a * cosine[i] - b * sine[i];
        other[i] = a * sine[i] + b * cosine[i];
      }
    } else {
      for (size_t i = 0; i < pairs; ++i) {
        const float a = head[2 * i];
        const float b = head[2 * i + 1];
        head[2 * i] = a * cosine[i] - b * sine[i];
        head[2 * i + 1] = a * sine[i] + b * cosine[i];
      }
    }
  }
}

void add(const float* a, const float* b, size_t n, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}
void multiply(const float* a, const float* b, size_t n, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = a[i] * b[i];
}
void scale(const float* x, float factor, size_t n, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = x[i] * factor;
}
void add_scaled(const float* x, float factor, size_t n, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] += factor * x[i];
}
void softcap(const float* x, float cap, size_t n, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = cap * tanh_of(x[i] / cap);
}

void exp_vector(const float* x, size_t n, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = exp_of(x[i]);
}
void tanh_vector(const float* x, size_t n, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = tanh_of(x[i]);
}
void sigmoid(const float* x, size_t n, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = sigmoid_of(x[i]);
}
void silu(const float* x, size_t n, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = silu_of(x[i]);
}
void gelu_tanh(const float* x, size_t n, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = gelu_tanh_of(x[i]);
}
void gelu_erf(const float* x, size_t n, float* out) {
  for (size_t i = 0; i < n; ++i)
    out[i] = 0.5f * x[i] * (1.0f + __builtin_erff(x[i] * 0.707106781f));
}
void relu(const float* x, size_t n, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = x[i] < 0.0f ? 0.0f : x[i];
}
void swiglu(const float* gate, const float* up, size_t n, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = silu_of(gate[i]) * up[i];
}
void geglu(const float* gate, const float* up, size_t n, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = gelu_tanh_of(gate[i]) * up[i];
}

// --- reductions
// ------------------------------------------------------------------------------------

void softmax(const float* x, size_t n, float* out) {
  float largest = -__builtin_inff();
  for (size_t i = 0; i < n; ++i) largest = x[i] > largest ? x[i] : largest;
  for (size_t i = 0; i < n; ++i) out[i] = exp_of(x[i] - largest);
  const float inverse = 1.0f / sum_of<float>(n, [out](size_t i) { return out[i]; });
  for (size_t i = 0; i < n; ++i) out[i] *= inverse;
}

size_t argmax(const float* x, size_t n) {
  float largest = -__builtin_inff();
  for (size_t i = 0; i < n; ++i) largest = x[i] > largest ? x[i] : largest;
  for (size_t i = 0; i < n; ++i)
    if (x[i] == largest) return i;
  return 0;
}

// --- the paged cache
// -------------------------------------------------------------------------------

// The element of largest magnitude; a NaN where there is one.
inline float largest_of_block(const float* x) {
  float largest = 0.0f;
  for (int i = 0; i < kBlock; ++i) {
    if (x[i] != x[i]) return x[i];
    if (__builtin_fabsf(x[i]) > __builtin_fabsf(largest)) largest = x[i];
  }
  return largest;
}

// x / scale to the nearest integer, ties to even, within the codes of the format. Where the scale
// is zero, infinite or not a number the code is 0: the scale alone says what the element is.
inline int32_t code_of(float x, float scale, float least, float most) {
  const float ratio = x / scale;
  if (!(__builtin_fabsf(ratio) < 1024.0f) || scale == 0.0f) return 0;
  const float bounded = ratio < least ? least : ratio > most ? most : ratio;
  return static_cast<int32_t>(bits_of(bounded + kRoundingShift) - kRoundingShiftBits);
}

void store_q8_0(const float* x, size_t n, BlockQ8_0* out) {
  for (size_t b = 0; b < n / kBlock; ++b, x += kBlock) {
    out[b].scale = f32_to_f16(__builtin_fabsf(largest_of_block(x)) / 127.0f);
    const float scale = f16_to_f32(out[b].scale);
    for (int i = 0; i < kBlock; ++i)
      out[b].q[i] = static_cast<int8_t>(code_of(x[i], scale, -127.0f, 127.0f));
  }
}

// The codes reach from -8 to 7: the scale's sign gives the -8 to the largest element.
void store_q4_0(const float* x, size_t n, BlockQ4_0* out) {
  for (size_t b = 0; b < n / kBlock; ++b, x += kBlock) {
    out[b].scale = f32_to_f16(largest_of_block(x) / -8.0f);
    const float scale = f16_to_f32(out[b].scale);
    for (int i = 0; i < kBlock / 2; ++i) {
      const int32_t low = code_of(x[i], scale, -8.0f, 7.0f) + 8;
      const int32_t high = code_of(x[i + kBlock / 2], scale, -8.0f, 7.0f) + 8;
      out[b].nibbles[i] = static_cast<uint8_t>(low | high << 4);
    }
  }
}

// A row of K or V, or whole blocks of one, in the pool's type.
inline void store_row(halogen_type type, const float* x, size_t n, uint8_t* to) {
  switch (type) {
    case HALOGEN_F16:
      return convert_f32_to_f16(x, n, reinterpret_cast<uint16_t*>(to));
    case HALOGEN_Q8_0:
      return store_q8_0(x, n, reinterpret_cast<BlockQ8_0*>(to));
    case HALOGEN_Q4_0:
      return store_q4_0(x, n, reinterpret_cast<BlockQ4_0*>(to));
    default:
      std::memcpy(to, x, n * sizeof(float));
  }
}

// A row of K, a block of elements at a time.
inline void store_key(const KeyRows& to, const float* x, size_t n, uint32_t slot, uint8_t* keys) {
  alignas(float) uint8_t part[kBlock * sizeof(float)];
  const size_t part_bytes = halogen_row_bytes(to.type, kBlock);
  for (size_t d = 0, offset = 0; d < n; d += kBlock, offset += part_bytes) {
    const size_t bytes = to.row_bytes - offset < part_bytes ? to.row_bytes - offset : part_bytes;
    store_row(to.type, x + d, n - d < kBlock ? n - d : kBlock, part);
    write_key(to, keys, slot, offset, bytes, part);
  }
}

void kv_store(const KvGeometry& kv, uint32_t block, uint32_t slot, const float* k, const float* v) {
  const KeyRows key_rows = {kv.key_type, kv.key_row_bytes, kv.block_tokens};
  uint8_t* keys = kv.keys + block * kv.key_block_bytes;
  uint8_t* value = kv.values + block * kv.value_block_bytes + slot * kv.value_row_bytes;
  for (size_t head = 0; head < kv.kv_heads; ++head) {
    store_key(key_rows, k + head * kv.key_dim, kv.key_dim, slot, keys);
    store_row(kv.value_type, v + head * kv.value_dim, kv.value_dim, value);
    keys += kv.block_tokens * kv.key_row_bytes;
    value += kv.block_tokens * kv.value_row_bytes;
  }
}

inline void fill_float_kernels(KernelSet& set) {
  set.dequantise = dequantise;
  set.quantise_q8_blocks = quantise_q8_blocks;
  set.quantise_q8_superblocks = quantise_q8_superblocks;
  set.f32_to_f16 = convert_f32_to_f16;
  set.f16_to_f32 = convert_f16_to_f32;
  set.f32_to_bf16 = convert_f32_to_bf16;
  set.bf16_to_f32 = convert_bf16_to_f32;
  set.rms_norm = rms_norm;
  set.layer_norm = layer_norm;
  set.rope = rope;
  set.add = add;
  set.multiply = multiply;
  set.scale = scale;
  set.add_scaled = add_scaled;
  set.softcap = softcap;
  set.exp = exp_vector;
  set.tanh = tanh_vector;
  set.sigmoid = sigmoid;
  set.silu = silu;
  set.gelu_tanh = gelu_tanh;
  set.gelu_erf = gelu_erf;
  set.relu = relu;
  set.swiglu = swiglu;
  set.geglu = geglu;
  set.softmax = softmax;
  set.argmax = argmax;
  set.kv_store = kv_store;
}

}  // namespace
}  // namespace halogen::cpu
