#include "plugins/cpu/kernels/interleave.h"

#include <algorithm>
#include <cstring>

namespace halogen::cpu {
namespace {

constexpr size_t kUnit = 4;

// Calls visit(offset, bytes) for each unit of a block.
template <class Visit>
void for_each_unit(halogen_type type, size_t block_bytes, Visit visit) {
  size_t first = block_bytes % kUnit;
  if (type == HALOGEN_Q3_K || type == HALOGEN_Q6_K) first = 0;  // their scale is at the end
  if (first != 0) visit(0, first);
  size_t at = first;
  for (; at + kUnit <= block_bytes; at += kUnit) visit(at, kUnit);
  if (at < block_bytes) visit(at, block_bytes - at);
}

}  // namespace

void interleave_panel(const Interleaving& to, const void* rows, size_t panel, uint8_t* out) {
  const size_t block_bytes = halogen_type_find(to.type)->block_bytes;
  const size_t row_bytes = halogen_row_bytes(to.type, to.k);
  const size_t first_row = panel * to.panel_rows;
  const size_t n_rows = std::min(to.panel_rows, to.n_rows - first_row);
  const uint8_t* const from = static_cast<const uint8_t*>(rows) + first_row * row_bytes;
  if (n_rows < to.panel_rows) std::memset(out, 0, to.panel_bytes());
  for (size_t begin = 0; begin < row_bytes; begin += block_bytes) {
    for_each_unit(to.type, block_bytes, [&](size_t offset, size_t bytes) {
      const uint8_t* unit = from + begin + offset;
      uint8_t* place = out + to.panel_rows * (begin + offset);
      if (bytes == kUnit) {
        for (size_t r = 0; r < n_rows; ++r)
          std::memcpy(place + r * kUnit, unit + r * row_bytes, kUnit);
      } else {
        for (size_t r = 0; r < n_rows; ++r)
          std::memcpy(place + r * bytes, unit + r * row_bytes, bytes);
      }
    });
  }
}

void read_interleaved_block(const Interleaving& from, const uint8_t* panels, size_t row,
                            size_t block, uint8_t* out) {
  const size_t block_bytes = halogen_type_find(from.type)->block_bytes;
  const size_t lane = row % from.panel_rows;
  const uint8_t* const of_panel =
      panels + row / from.panel_rows * from.panel_bytes() + block * block_bytes * from.panel_rows;
  for_each_unit(from.type, block_bytes, [&](size_t offset, size_t bytes) {
    std::memcpy(out + offset, of_panel + from.panel_rows * offset + lane * bytes, bytes);
  });
}

}  // namespace halogen::cpu
