#include "plugins/cpu/attention.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace halogen::cpu {
namespace {

// The scratch, cut up.
struct Work {
  float* q;
  float *panel, *groups;
  AttendRows total, part;
  float* scores;

  Work(const AttendScratch& sizes, float* scratch) {
    const auto take = [&](size_t floats) {
      float* taken = scratch;
      scratch += attend_aligned(floats);
      return taken;
    };
    const size_t out = sizes.rows * attend_aligned(sizes.value_dim);
    q = take(size_t{sizes.rows} * sizes.key_dim);
    panel = take(attend_panel_floats(sizes.key_dim));
    groups = take(attend_group_floats(sizes.key_dim));
    for (AttendRows* rows : {&total, &part})
      *rows = {take(out), take(sizes.rows), take(sizes.rows)};
    scores = take(sizes.score_floats);
  }
};

void scale_queries(const KernelSet& kernels, const AttendTile& tile, float* q) {
  const size_t width = size_t{tile.n_heads} * tile.kv->key_dim;
  for (uint32_t t = 0; t < tile.n_tokens; t++)
    kernels.scale(tile.q + t * tile.q_stride, tile.scale, width, q + t * width);
}

void attend_stretch(const KernelSet& kernels, const AttendTile& tile, const Work& work,
                    uint32_t begin, uint32_t end, AttendRows to) {
  AttendCall call{};
  call.kv = tile.kv;
  call.block_table = tile.block_table;
  call.kv_head = tile.kv_head;
  call.n_tokens = tile.n_tokens;
  call.n_heads = tile.n_heads;
  call.first = tile.first;
  call.last = tile.last;
  call.begin = begin;
  call.end = end;
  call.q = work.q;
  call.softcap = tile.softcap;
  call.out = to.out;
  call.largest = to.largest;
  call.sum = to.sum;
  call.scores = work.scores;
  call.score_stride = attend_aligned(end - begin);
  call.panel = work.panel;
  call.groups = work.groups;
  kernels.attend(call);
}

// Takes chunk `chunk` of those tokens that reach into it.
void fold_chunk(const KernelSet& kernels, const AttendTile& tile, uint32_t chunk,
                const Work& work) {
  const uint32_t value_dim = tile.kv->value_dim;
  for (uint32_t row = 0; row < tile.rows(); row++) {
    const uint32_t token = row / tile.n_heads;
    if (tile.last[token] / kFlashChunk < chunk) continue;
    const AttendRows into = work.total.from(row, value_dim), part = work.part.from(row, value_dim);
    const uint32_t first_chunk = tile.first[token] / kFlashChunk;
    if (first_chunk < chunk) {
      fold_row(kernels, value_dim, into, part);
    } else if (first_chunk == chunk) {
      std::memcpy(into.out, part.out, value_dim * sizeof(float));
      *into.largest = *part.largest;
      *into.sum = *part.sum;
    }
  }
}

float exp_of(const KernelSet& kernels, float x) {
  float result;
  kernels.exp(&x, 1, &result);
  return result;
}

}  // namespace

uint32_t AttendTile::from() const {
  return *std::min_element(first, first + n_tokens);
}

uint32_t AttendTile::to() const {
  return *std::max_element(last, last + n_tokens) + 1;
}

size_t AttendScratch::floats() const {
  const size_t per_row = attend_aligned(size_t{rows} * attend_aligned(value_dim));
  return attend_aligned(size_t{rows} * key_dim) + attend_panel_floats(key_dim) +
         attend_group_floats(key_dim) + 2 * (per_row + 2 * attend_aligned(rows)) +
         attend_aligned(score_floats);
}

size_t plain_score_stride(uint32_t from, uint32_t to) {
  return attend_aligned(to - from / kAttendAlignment * kAttendAlignment);
}

void attend_tile(const KernelSet& kernels, const AttendTile& tile, AttendWay way,
                 const AttendScratch& sizes, float* scratch, float* out, size_t out_stride) {
  const Work work(sizes, scratch);
  scale_queries(kernels, tile, work.q);
  const uint32_t from = tile.from(), to = tile.to();
  if (way == AttendWay::plain) {
    attend_stretch(kernels, tile, work, from / kAttendAlignment * kAttendAlignment, to, work.total);
  } else {
    const uint32_t first_chunk = from / kFlashChunk;
    for (uint32_t chunk = first_chunk; chunk * kFlashChunk < to; chunk++) {
      const uint32_t begin = chunk * kFlashChunk;
      attend_stretch(kernels, tile, work, begin, begin + kFlashChunk,
                     chunk == first_chunk ? work.total : work.part);
      if (chunk != first_chunk) fold_chunk(kernels, tile, chunk, work);
    }
  }
  const uint32_t value_dim = tile.kv->value_dim;
  for (uint32_t row = 0; row < tile.rows(); row++) {
    const uint32_t token = row / tile.n_heads, head = row % tile.n_heads;
    finish_row(kernels, value_dim, tile.sinks ? tile.sinks + head : nullptr,
               work.total.from(row, value_dim), out + token * out_stride + head * value_dim);
  }
}

void attend_chunk(const KernelSet& kernels, const AttendTile& tile, uint32_t chunk,
                  const AttendScratch& sizes, float* scratch, AttendRows to) {
  const Work work(sizes, scratch);
  scale_queries(kernels, tile, work.q);
  attend_stretch(kernels, tile, work, chunk * kFlashChunk, (chunk + 1) * kFlashChunk, to);
}

void fold_row(const KernelSet& kernels, uint32_t value_dim, AttendRows into, AttendRows later) {
  const float largest = std::max(*into.largest, *later.largest);
  const float keep = exp_of(kernels, *into.largest - largest);
  const float take = exp_of(kernels, *later.largest - largest);
  if (keep != 1.0F) kernels.scale(into.out, keep, value_dim, into.out);
  kernels.add_scaled(later.out, take, value_dim, into.out);
  *into.sum = *into.sum * keep + *later.sum * take;
  *into.largest = largest;
}

void finish_row(const KernelSet& kernels, uint32_t value_dim, const float* sink, AttendRows row,
                float* out) {
  float factor = 1.0F, sum = *row.sum;
  if (sink) {
    const float largest = std::max(*row.largest, *sink);
    factor = exp_of(kernels, *row.largest - largest);
    sum = sum * factor + exp_of(kernels, *sink - largest);
  }
  const bool nothing = *row.sum == 0.0F && *row.largest == -std::numeric_limits<float>::infinity();
  kernels.scale(row.out, nothing ? 0.0F : factor / sum, value_dim, out);
}

}  // namespace halogen::cpu
