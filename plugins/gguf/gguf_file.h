// One file of the GGUF format, versions 2 and 3, little-endian, read up to the tensors' data.
//
// Layout (the format's description is part of the ggml documentation):
//
//   "GGUF"  u32 version  u64 tensors  u64 keys
//   keys:    string key, u32 value type, value
//   tensors: string name, u32 rank, u64 shape[rank], u32 type, u64 offset
//   zeros up to a multiple of general.alignment (32 without that key), then the data, where the
//   tensors' offsets count from.
//
// Version 2 differs from 3 only in that 3 allows big-endian files, which halogen refuses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugins/gguf/failure.h"
#include "plugins/gguf/tensor_table.h"
#include "plugins/gguf/value.h"

namespace halogen::gguf {

struct GgufFile {
  uint32_t version = 0;
  uint64_t bytes = 0;              // size of the file
  uint64_t data_begin = 0;         // where the tensors' data begin
  std::vector<KeyValue> metadata;  // in the file's order; keys are unique
  std::vector<Tensor> tensors;     // in the file's order; names are unique
};

// Reads and checks everything but the tensors' data. [worker]
// Errors begin with the path and name the key, tensor or byte.
bool read_gguf_file(const std::string& path, GgufFile& file, Failure& failure);

// Whether a file that begins with these bytes is a GGUF file, of whatever version.
bool has_gguf_magic(const void* first_bytes, size_t size);

}  // namespace halogen::gguf
