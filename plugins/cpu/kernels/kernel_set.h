// The compute kernels of the CPU backend, as one table of functions per instruction set.
//
// What every kernel promises:
// - Weights are read in the layout of the model file or, the same bytes, interleaved
// (interleave.h).
// - A token's result depends on its own inputs only, to the last bit: not on how many tokens a call
//   holds, nor on how rows, tokens or heads are split over calls and threads.
// - No allocation, no exception, no shared state: all are [any]; scratch comes from the caller, or
//   is on the stack (linear: 100 KiB at most).
// - NaN and infinity pass through as IEEE arithmetic has it; they are never undefined behaviour.
// - The sets agree bit for bit, the linear kernels of quantised weights included: a block's
// products
//   are summed exactly, in integers, and each block is one fused multiply-add onto the blocks
//   before it. Not so attend, and what multiplies plain floats (linear of F32, F16 and BF16
//   weights, linear_exact): there the portable set does not fuse.
// All pointers are to host memory; sizes count elements, and a stride counts elements too unless it
// is named *_bytes. Outputs must not overlap inputs unless said.
#pragma once

#include <cstddef>
#include <cstdint>

#include "halogen/types.h"

#include "plugins/cpu/kernels/activations.h"
#include "plugins/cpu/kernels/cpu_features.h"

namespace halogen::cpu {

// y[t][r] = sum over j of W[r][j] * x[t][j], for row_begin <= r < row_end.
struct LinearCall {
  const void* weights;  // row 0; in the type's blocks, aligned as the type's halves or floats
  size_t row_bytes;     // from one row to the next
  size_t row_begin;
  size_t row_end;
  size_t k;                 // columns; whole blocks of the weight type
  const void* activations;  // [tokens], in activation_format(type); F32 for linear_exact
  size_t activation_stride_bytes;
  size_t n_tokens;
  float* y;  // [tokens][y_stride]; row r of token t is y[t * y_stride + r]
  size_t y_stride;
  // For experts, which take some of the tokens: token t reads activation row activation_rows[t] and
  // writes output row output_rows[t]. Null: t itself.
  const uint32_t* activation_rows = nullptr;
  const uint32_t* output_rows = nullptr;
  // The weights are interleaved in panels of KernelSet::panel_rows rows, of which row_begin is a
  // multiple. Not for linear_exact, nor for plain types.
  bool interleaved = false;
};
using LinearKernel = void(const LinearCall& call);

// The paged K and V of one layer. Block b begins at values + b * value_block_bytes and holds
// [kv_heads][block_tokens] rows of value_dim elements in value_type; keys likewise, but that the
// block_tokens rows of a head are in the order of key_groups.h.
struct KvGeometry {
  halogen_type key_type, value_type;  // F32, F16, Q8_0 or Q4_0; the last two in whole blocks
  uint32_t block_tokens;
  uint32_t kv_heads;
  uint32_t key_dim;
  uint32_t value_dim;
  uint8_t* keys;
  uint8_t* values;
  size_t key_row_bytes, value_row_bytes;
  size_t key_block_bytes, value_block_bytes;
};

// A stretch of positions as some tokens of one sequence see it, for the query heads that share one
// K/V head. Row r belongs to token r / n_heads and head r % n_heads. With
// score[r][p] = softcap(q[r] . k[p]), the results of row r over the positions that its token
// attends to and that lie in the stretch are
//   largest[r] = max score, sum[r] = sum of exp(score - largest), out[r] = sum of exp(..) * v[p];
// minus infinity, 0 and zeros where there are none.
struct AttendCall {
  const KvGeometry* kv;
  const uint32_t* block_table;  // block of positions [i * block_tokens, (i + 1) * block_tokens)
  uint32_t kv_head;
  uint32_t n_tokens;
  uint32_t n_heads;
  const uint32_t* first;  // [n_tokens]: a token attends to positions first to last, inclusive
  const uint32_t* last;
  uint32_t begin;       // the stretch; a multiple of kAttendAlignment
  uint32_t end;         // past its last position
  const float* q;       // [rows][key_dim], times the scale of the scores
  float softcap;        // cap * tanh(score / cap); 0: none
  float* out;           // [rows][attend_aligned(value_dim)]
  float* largest;       // [rows]
  float* sum;           // [rows]
  float* scores;        // scratch, [rows][score_stride]
  size_t score_stride;  // at least attend_aligned(end - begin)
  float* panel;         // scratch, attend_panel_floats(key_dim)
  float* groups;        // scratch, attend_group_floats(key_dim)
};

// Positions and columns are taken in groups that divide this.
inline constexpr uint32_t kAttendAlignment = 32;
// Rows of V that are converted at a time.
inline constexpr uint32_t kAttendRun = 64;

// [any] Elements, rounded up to whole groups.
inline size_t attend_aligned(size_t elements) {
  return (elements + kAttendAlignment - 1) / kAttendAlignment * kAttendAlignment;
}
// [any] Floats of scratch that attend needs for converted K and V.
inline size_t attend_panel_floats(uint32_t key_dim) {
  return size_t{kAttendAlignment} * (key_dim > kAttendRun ? key_dim : kAttendRun);
}

// [any] Floats of scratch that attend needs for K whose blocks are not whole groups.
inline size_t attend_group_floats(uint32_t key_dim) {
  return size_t{kAttendAlignment} * key_dim;
}

enum class RopePairing {
  kHalves,    // element i with element i + rotary_dim / 2 ("NeoX")
  kAdjacent,  // element 2i with element 2i + 1 ("normal": Llama's GGUF files)
};

struct KernelSet {
  InstructionSet set;
  const char* name;

  // --- weights
  // ------------------------------------------------------------------------------------- The
  // kernel for a weight type, or null where the type has none. linear takes quantised activations
  // for quantised types (activation_format); linear_exact takes F32 activations for every type and
  // dequantises the weights: slower, for validation and for operators who want it.
  LinearKernel* (*linear)(halogen_type type);
  LinearKernel* (*linear_exact)(halogen_type type);
  // Rows of the panels that `linear` also takes interleaved, for quantised types; 0: it does not.
  size_t panel_rows;
  // n elements (whole blocks) of a row to F32, bit for bit as ggml does. False: type not supported.
  bool (*dequantise)(halogen_type type, const void* row, size_t n, float* out);

  // --- activations
  // --------------------------------------------------------------------------------- One token of
  // k elements (whole blocks). Identical bits in every set.
  void (*quantise_q8_blocks)(const float* x, size_t k, Q8Block* out);
  void (*quantise_q8_superblocks)(const float* x, size_t k, Q8SuperBlock* out);
  void (*f32_to_f16)(const float* x, size_t n, uint16_t* out);
  void (*f16_to_f32)(const uint16_t* x, size_t n, float* out);
  void (*f32_to_bf16)(const float* x, size_t n, uint16_t* out);
  void (*bf16_to_f32)(const uint16_t* x, size_t n, float* out);

  // --- one vector; out may equal an input
  // ---------------------------------------------------------- x / sqrt(mean(x^2) + epsilon) *
  // weight; weight may be null. Sums in double.
  void (*rms_norm)(const float* x, const float* weight, float epsilon, size_t n, float* out);
  // (x - mean) / sqrt(variance + epsilon) * weight + bias; weight and bias may be null.
  void (*layer_norm)(const float* x, const float* weight, const float* bias, float epsilon,
                     size_t n, float* out);
  // Rotates the first rotary_dim elements of each of n_heads vectors in place, by the position's
  // angles: cosine and sine are [rotary_dim / 2].
  void (*rope)(float* x, size_t n_heads, size_t head_stride, size_t rotary_dim, const float* cosine,
               const float* sine, RopePairing pairing);
  void (*add)(const float* a, const float* b, size_t n, float* out);
  void (*multiply)(const float* a, const float* b, size_t n, float* out);
  void (*scale)(const float* x, float factor, size_t n, float* out);
  // out += factor * x, for bringing experts together.
  void (*add_scaled)(const float* x, float factor, size_t n, float* out);
  void (*softcap)(const float* x, float cap, size_t n, float* out);  // cap * tanh(x / cap)

  // --- activation functions; out may equal an input
  // ------------------------------------------------ exp: relative error below 2e-7 where the
  // result is normal; gradual underflow, overflow to infinity.
  void (*exp)(const float* x, size_t n, float* out);
  void (*tanh)(const float* x, size_t n, float* out);     // relative error below 4e-7
  void (*sigmoid)(const float* x, size_t n, float* out);  // relative error below 5e-7
  void (*silu)(const float* x, size_t n, float* out);
  void (*gelu_tanh)(const float* x, size_t n, float* out);  // the tanh approximation
  void (*gelu_erf)(const float* x, size_t n, float* out);   // the exact one
  void (*relu)(const float* x, size_t n, float* out);
  void (*swiglu)(const float* gate, const float* up, size_t n, float* out);  // silu(gate) * up
  void (*geglu)(const float* gate, const float* up, size_t n, float* out);   // gelu_tanh(gate) * up

  // --- reductions
  // ----------------------------------------------------------------------------------
  void (*softmax)(const float* x, size_t n, float* out);  // out may equal x
  // Index of the first largest element; NaNs never win, and 0 where nothing does. n > 0.
  size_t (*argmax)(const float* x, size_t n);

  // --- attention
  // -----------------------------------------------------------------------------------
  void (*attend)(const AttendCall& call);
  // Writes one token's K [kv_heads][key_dim] and V [kv_heads][value_dim] into slot `slot`
  // (< block_tokens) of block `block`, rounded to the pool's type.
  void (*kv_store)(const KvGeometry& kv, uint32_t block, uint32_t slot, const float* k,
                   const float* v);
};

// [any] The table of a set; the set must be available().
const KernelSet& kernels(InstructionSet set);

}  // namespace halogen::cpu
