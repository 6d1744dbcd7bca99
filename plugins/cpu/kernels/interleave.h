// Weights in the order in which the linear kernels read them.
//
// A panel is a run of neighbouring rows, one for each 32-bit lane of a vector. In the file a row's
// blocks follow each other, so that a kernel first has to bring the rows of a panel together. Here
// the same bytes are kept panel by panel, and in a panel block by block. Such a block of all rows
// is cut into units, and holds the first unit of each row, then the second one of each row, and so
// on: byte `offset` of the block, where a unit begins, is found at offset * panel rows. Units are
// 32 bits, except for a first or last one of 8 or 16 bits where the format has such.
//
// Rows that a last panel lacks are zeros. No byte is gained or lost otherwise.
#pragma once

#include <cstddef>
#include <cstdint>

#include "halogen/types.h"

namespace halogen::cpu {

// `type` is a quantised one with a linear kernel, k whole blocks of it, panel_rows what a KernelSet
// says.
struct Interleaving {
  halogen_type type;
  size_t n_rows;
  size_t k;
  size_t panel_rows;

  // [any]
  size_t panels() const { return (n_rows + panel_rows - 1) / panel_rows; }
  size_t panel_bytes() const { return panel_rows * halogen_row_bytes(type, k); }
  size_t bytes() const { return panels() * panel_bytes(); }
};

// [any] Writes one panel, panel_bytes() of them, from the rows as the file has them (all n_rows).
void interleave_panel(const Interleaving& to, const void* rows, size_t panel, uint8_t* out);

// [any] Block `block` of row `row` as the file had it; `out` takes the type's block_bytes.
void read_interleaved_block(const Interleaving& from, const uint8_t* panels, size_t row,
                            size_t block, uint8_t* out);

// One block of each row of a panel, for kernels.
template <class Block, size_t Rows>
struct InterleavedBlock {
  const uint8_t* bytes;
  const uint8_t* at(size_t offset) const { return bytes + Rows * offset; }
};

}  // namespace halogen::cpu
