// GGUF files that are not in the data folder, made from those that are.
#pragma once

#include <cstdint>
#include <string>

namespace halogen::test {

// A copy of `source` with one more metadata key. False where a file cannot be read or written.
bool add_metadata_u32(const std::string& source, const std::string& key, uint32_t value,
                      const std::string& target);

// The metadata of `source`, a Qwen3 model, with the tensors of a safetensors file of the same
// model: matrices as they are there (BF16), vectors as F32.
bool with_tensors_of(const std::string& source, const std::string& safetensors,
                     const std::string& target);

}  // namespace halogen::test
