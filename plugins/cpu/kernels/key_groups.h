// The order in which the pool keeps K, so that attention loads an element of neighbouring positions
// as one vector.
//
// What one K/V head has in a block are block_tokens rows. They are taken in groups of kKeyGroup
// positions; the last group has what is left. A row is cut into units: an element of F32 or F16;
// the scale and then each byte of a block of Q8_0 or Q4_0. A group holds the first unit of each of
// its rows, then the second one of each, and so on: the units at byte `offset` of n rows are found
// at offset * n of the group. No byte is gained or lost.
#pragma once

#include <cstddef>
#include <cstdint>

#include "halogen/types.h"

namespace halogen::cpu {

inline constexpr uint32_t kKeyGroup = 16;

// K of one K/V head in one block: block_tokens * row_bytes bytes.
struct KeyRows {
  halogen_type type;  // F32, F16, Q8_0 or Q4_0
  size_t row_bytes;
  uint32_t block_tokens;
};

// [any] Writes bytes [offset, offset + bytes) of the row of `slot`: whole elements or blocks.
void write_key(const KeyRows& to, uint8_t* keys, uint32_t slot, size_t offset, size_t bytes,
               const uint8_t* from);

// [any] The row of `slot` as one piece; `out` takes row_bytes.
void read_key(const KeyRows& from, const uint8_t* keys, uint32_t slot, uint8_t* out);

// [any] Copies n <= kKeyGroup - lane positions from `slot` on, as far as the slot's group has them,
// to a whole group, from position `lane` of it on. Returns how many.
uint32_t regroup_keys(const KeyRows& from, const uint8_t* keys, uint32_t slot, uint32_t n,
                      uint32_t lane, uint8_t* group);

}  // namespace halogen::cpu
