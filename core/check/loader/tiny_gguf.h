// A small GGUF file, whole and right, for loaders that read the format (its description is part of
// the ggml documentation).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halogen/types.h"

namespace halogen::check {

struct TinyTensor {
  std::string name;
  halogen_type type;
  std::vector<int64_t> dims;  // outermost first
  uint64_t offset;            // in the file
  uint64_t bytes;
};

struct TinyGguf {
  std::string bytes;
  std::vector<TinyTensor> tensors;
};

// A Llama of two layers, with keys of every kind and tensors of several types.
TinyGguf tiny_gguf();

}  // namespace halogen::check
