// Attention of a tile: some consecutive tokens of a sequence and the query heads that share one K/V
// head, over all positions that they attend to.
//
// The plain way takes them as one stretch: whole rows of scores, then their softmax, then the
// weighted sum. The flash way takes chunks cut at multiples of kFlashChunk and folds their results
// in ascending order (online softmax; Milakov and Gimelshein, arXiv:1805.02867), so that it needs
// little scratch and chunks may be computed by different threads. In both a row's bits depend on
// its own token's positions alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugins/cpu/kernels/kernel_set.h"

namespace halogen::cpu {

enum class AttendWay : uint8_t { plain, flash };

inline constexpr uint32_t kFlashChunk = 256;
static_assert(kFlashChunk % kAttendAlignment == 0);

struct AttendTile {
  const KvGeometry* kv;
  const uint32_t* block_table;
  uint32_t kv_head;
  uint32_t n_tokens;
  uint32_t n_heads;       // of the group
  const uint32_t* first;  // [n_tokens]: positions attended to, first to last inclusive
  const uint32_t* last;
  const float* q;  // token t, head h at q + t * q_stride + h * key_dim
  size_t q_stride;
  float scale;
  float softcap;
  const float* sinks;  // [n_heads] logits that only join the denominator, or null

  uint32_t rows() const { return n_tokens * n_heads; }
  uint32_t from() const;  // first position that any token attends to
  uint32_t to() const;    // past the last one
};

// Unfinished results of rows over a part of their positions; see AttendCall.
struct AttendRows {
  float* out;  // [rows][attend_aligned(value_dim)]
  float* largest;
  float* sum;

  AttendRows from(size_t row, uint32_t value_dim) const {
    return {out + row * attend_aligned(value_dim), largest + row, sum + row};
  }
};

// One thread's memory for tiles of up to `rows` rows.
struct AttendScratch {
  uint32_t rows, key_dim, value_dim;
  size_t score_floats;  // at least rows * kFlashChunk for the flash way,
                        // rows * plain_score_stride(tile) for the plain one

  size_t floats() const;
};

// [any] Scores of a row in the plain way.
size_t plain_score_stride(uint32_t from, uint32_t to);

// [any] The whole of a tile; token t's head h goes to out + t * out_stride + h * value_dim.
void attend_tile(const KernelSet& kernels, const AttendTile& tile, AttendWay way,
                 const AttendScratch& sizes, float* scratch, float* out, size_t out_stride);
// [any] One chunk of the flash way, for folding later.
void attend_chunk(const KernelSet& kernels, const AttendTile& tile, uint32_t chunk,
                  const AttendScratch& sizes, float* scratch, AttendRows to);
// [any] Takes a later chunk's result of one row into that of the chunks before it.
void fold_row(const KernelSet& kernels, uint32_t value_dim, AttendRows into, AttendRows later);
// [any] The row's attention from the results over all of its positions; `sink` may be null. `row`
// is used up.
void finish_row(const KernelSet& kernels, uint32_t value_dim, const float* sink, AttendRows row,
                float* out);

}  // namespace halogen::cpu
