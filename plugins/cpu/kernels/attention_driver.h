// Attention over the paged cache, on top of two primitives of the instruction set.
//
// Positions are taken in tiles cut at multiples of kAttendTile, whatever range is asked for, with
// an online softmax over the tiles (Milakov and Gimelshein, arXiv:1805.02867): the running maximum
// and denominator of each head are corrected when a tile raises the maximum. All query heads of a
// group go through a tile together, so that K and V are read once.
//
// Arithmetic is a struct with, for one run of positions that lie in one block,
//   scores<Elements>(q, q_stride, n_heads, keys, n, dim, out, out_stride)
//       out[h][p] = q[h] . keys[p]
//   accumulate<Elements>(weights, weight_stride, n_heads, values, n, dim, out, out_stride)
//       out[h] += weights[h][p] * values[p], p ascending
// where the operations for one head and position must not depend on the run.
//
// Implementation header: in an unnamed namespace, see float_formats.h.
#pragma once

#include "plugins/cpu/kernels/kernel_set.h"
#include "plugins/cpu/kernels/scalar_math.h"

namespace halogen::cpu {
namespace {

// Calls run(block, slot, position, n) for the stretches of [begin, end) that lie in one block.
template <class Run>
inline void for_each_run(const AttendCall& call, uint32_t begin, uint32_t end, Run run) {
  const uint32_t block_tokens = call.kv->block_tokens;
  while (begin < end) {
    const uint32_t slot = begin % block_tokens;
    const uint32_t left = block_tokens - slot;
    const uint32_t n = end - begin < left ? end - begin : left;
    run(call.block_table[begin / block_tokens], slot, begin, n);
    begin += n;
  }
}

template <class Arithmetic, class Elements>
void attend_typed(const AttendCall& call) {
  const KvGeometry& kv = *call.kv;
  float* const scores = call.scratch;  // [n_heads][kAttendTile]
  float* const largest = scores + static_cast<size_t>(call.n_heads) * kAttendTile;
  float* const denominator = largest + call.n_heads;

  // A sink is a logit without a value: it takes part from the start.
  for (uint32_t h = 0; h < call.n_heads; ++h) {
    largest[h] = call.sinks ? call.sinks[h] : -__builtin_inff();
    denominator[h] = call.sinks ? 1.0f : 0.0f;
    for (uint32_t d = 0; d < kv.value_dim; ++d) call.out[h * call.out_stride + d] = 0.0f;
  }
  if (call.first > call.last) return;

  const uint32_t end = call.last + 1;
  for (uint32_t begin = call.first; begin < end;) {
    const uint32_t border = (begin / kAttendTile + 1) * kAttendTile;
    const uint32_t tile_end = border < end ? border : end;
    const uint32_t n = tile_end - begin;

    for_each_run(call, begin, tile_end,
                 [&](uint32_t block, uint32_t slot, uint32_t position, uint32_t count) {
                   const uint8_t* keys =
                       kv.keys + block * kv.key_block_bytes +
                       (static_cast<size_t>(call.kv_head) * kv.block_tokens + slot) * kv.key_dim *
                           Elements::kBytes;
                   Arithmetic::template scores<Elements>(call.q, call.q_stride, call.n_heads, keys,
                                                         count, kv.key_dim,
                                                         scores + (position - begin), kAttendTile);
                 });

    for (uint32_t h = 0; h < call.n_heads; ++h) {
      float* s = scores + static_cast<size_t>(h) * kAttendTile;
      for (uint32_t p = 0; p < n; ++p) s[p] *= call.scale;
      if (call.softcap != 0.0f)
        for (uint32_t p = 0; p < n; ++p) s[p] = call.softcap * tanh_of(s[p] / call.softcap);
      float maximum = largest[h];
      for (uint32_t p = 0; p < n; ++p) maximum = s[p] > maximum ? s[p] : maximum;
      for (uint32_t p = n; p < kAttendTile; ++p) s[p] = -__builtin_inff();
      float lane[8] = {};
      for (uint32_t p = 0; p < kAttendTile; p += 8)
        for (uint32_t l = 0; l < 8; ++l) {
          s[p + l] = exp_of(s[p + l] - maximum);
          lane[l] += s[p + l];
        }
      const float sum =
          ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
      const float correction = exp_of(largest[h] - maximum);
      if (correction != 1.0f) {
        float* out = call.out + h * call.out_stride;
        for (uint32_t d = 0; d < kv.value_dim; ++d) out[d] *= correction;
      }
      denominator[h] = denominator[h] * correction + sum;
      largest[h] = maximum;
    }

    for_each_run(call, begin, tile_end,
                 [&](uint32_t block, uint32_t slot, uint32_t position, uint32_t count) {
                   const uint8_t* values =
                       kv.values + block * kv.value_block_bytes +
                       (static_cast<size_t>(call.kv_head) * kv.block_tokens + slot) * kv.value_dim *
                           Elements::kBytes;
                   Arithmetic::template accumulate<Elements>(
                       scores + (position - begin), kAttendTile, call.n_heads, values, count,
                       kv.value_dim, call.out, call.out_stride);
                 });
    begin = tile_end;
  }

  for (uint32_t h = 0; h < call.n_heads; ++h) {
    float* out = call.out + h * call.out_stride;
    const float inverse = 1.0f / denominator[h];
    for (uint32_t d = 0; d < kv.value_dim; ++d) out[d] *= inverse;
  }
}

template <class Arithmetic, class F16, class F32>
void attend_with(const AttendCall& call) {
  if (call.kv->type == HALOGEN_F16)
    attend_typed<Arithmetic, F16>(call);
  else
    attend_typed<Arithmetic, F32>(call);
}

}  // namespace
}  // namespace halogen::cpu
