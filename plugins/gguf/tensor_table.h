// The tensor table of a GGUF file: what each tensor is and where its bytes lie. Never the bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halogen/types.h"

#include "plugins/gguf/byte_cursor.h"
#include "plugins/gguf/failure.h"

namespace halogen::gguf {

constexpr uint32_t kMaxTensorRank = 4;

struct Tensor {
  std::string name;
  halogen_type type = HALOGEN_F32;
  uint32_t rank = 0;                    // 1 .. kMaxTensorRank
  uint64_t shape[kMaxTensorRank] = {};  // in the format's order: shape[0] is the row's length
  uint32_t file = 0;                    // index into the model's files
  uint64_t offset = 0;                  // from the beginning of that file
  uint64_t bytes = 0;
};

// Reads `count` entries; `offset` is still what the table says, relative to the data. Checks all
// that one entry shows by itself: name, shape, type, whole blocks, no overflow.
bool read_tensor_table(ByteCursor& cursor, uint64_t count, std::vector<Tensor>& tensors,
                       Failure& failure);

// Turns the offsets into places in the file, whose data begin at `data_begin`: each a multiple of
// `alignment`, inside the file, and no two tensors sharing a byte.
bool place_tensors(std::vector<Tensor>& tensors, uint64_t data_begin, uint64_t alignment,
                   uint64_t file_bytes, Failure& failure);

// False, naming it, where two tensors have one name.
bool names_are_unique(const std::vector<Tensor>& tensors, Failure& failure);

}  // namespace halogen::gguf
