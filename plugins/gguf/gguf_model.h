// A model in one GGUF file or in several: "NAME-00001-of-00003.gguf" and its siblings.
//
// The keys of the first file describe the model. Each file of a split one says with split.no,
// split.count and split.tensors.count which part it is, of how many, and how many tensors all parts
// have together.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plugins/gguf/failure.h"
#include "plugins/gguf/tensor_table.h"
#include "plugins/gguf/value.h"

namespace halogen::gguf {

struct GgufModel {
  std::vector<std::string> files;  // paths, the first part first; Tensor::file is an index into it
  std::vector<KeyValue> metadata;  // of the first part
  std::vector<Tensor> tensors;     // of all parts
};

// Opens the file and, where it is the first part of several, the others. [worker]
// Errors name the file; a missing part, or a part that is not the first, names the file expected.
bool open_gguf_model(const std::string& path, GgufModel& model, Failure& failure);

// The tensor of that name, or null.
const Tensor* find_tensor(const GgufModel& model, std::string_view name);

}  // namespace halogen::gguf
