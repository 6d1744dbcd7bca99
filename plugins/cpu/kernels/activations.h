// How activations are laid out for the linear kernels.
//
// The product of a quantised weight row and a token is computed in integers, so the token's
// activations are quantised first, once per token, to 8 bits. The block of the activations is that
// of the weights: 32 elements, or 256 for the superblock formats. All scales are symmetric: value =
// scale * q, -127 <= q <= 127, scale = (largest magnitude of the block) / 127.
//
// A block that holds an infinity or a NaN gets the scale NaN, so that everything computed from it
// is NaN. A block whose largest magnitude is below 2^-100 becomes zero.
#pragma once

#include <cstddef>
#include <cstdint>

#include "halogen/types.h"

namespace halogen::cpu {

// For weights of 32-element blocks.
struct Q8Block {
  float scale;
  float sum;             // scale * (q[0] + ... + q[31]); what a weight's minimum is multiplied with
  int32_t negative_sum;  // -(q[0] + ... + q[31]); what codes with an added offset need taken away
  int8_t q[32];
};
static_assert(sizeof(Q8Block) == 44);

// For weights of 256-element superblocks. Padded to whole cache lines: when the first block is
// aligned to 64 bytes no 32-byte load of a kernel crosses a line.
struct Q8SuperBlock {
  int8_t q[256];
  int16_t sums[16];  // of 16 consecutive q
  float scale;
  uint8_t padding[28];  // zero
};
static_assert(sizeof(Q8SuperBlock) == 320);

enum class ActivationFormat { kF32, kQ8Block, kQ8SuperBlock };

// [any] What the linear kernel of a weight type takes; kF32 for the plain types.
inline ActivationFormat activation_format(halogen_type weights) {
  const halogen_type_traits* traits = halogen_type_find(weights);
  if (!traits || traits->block_elements == 1) return ActivationFormat::kF32;
  return traits->block_elements == 256 ? ActivationFormat::kQ8SuperBlock
                                       : ActivationFormat::kQ8Block;
}

// [any] Bytes of one token of k activations; k is whole blocks. Tokens are best placed at a stride
// that is a multiple of 64.
inline size_t activation_row_bytes(ActivationFormat format, size_t k) {
  switch (format) {
    case ActivationFormat::kF32:
      return k * sizeof(float);
    case ActivationFormat::kQ8Block:
      return k / 32 * sizeof(Q8Block);
    case ActivationFormat::kQ8SuperBlock:
      return k / 256 * sizeof(Q8SuperBlock);
  }
  return 0;
}

}  // namespace halogen::cpu
