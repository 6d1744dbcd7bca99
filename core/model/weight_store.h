// The bytes of a model's tensors, brought into memory once, until a backend has a copy of its own.
//
// Two ways, of which the profile chooses one (memory.weights):
//   mapped    the files are mapped read-only and read in; for backends that can read them there
//   resident  several threads fill one anonymous, page-aligned, huge-page arena by large reads,
//             which a GPU's driver can import and every backend shares
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/result.h"
#include "core/model/loaded_model.h"

namespace halogen {

enum class WeightPlacement : uint8_t { mapped, resident };

// Called now and then from the loading thread with bytes ready and bytes in all; false cancels.
using LoadProgress = std::function<bool(uint64_t done, uint64_t total)>;

class WeightStore {
 public:
  // [worker] Makes the bytes of `tensors` available. Errors name the file; a file that has shrunk
  // since it was opened is one.
  static Result<WeightStore> load(const LoadedModel& model,
                                  const std::vector<const halogen_tensor*>& tensors,
                                  WeightPlacement placement, const LoadProgress& progress);

  // [any] The bytes of tensors[index]; valid as long as the store.
  const void* data(size_t index) const { return data_[index]; }
  uint64_t total_bytes() const { return total_bytes_; }

  // [any] Gives up the memory of tensors[index], whose bytes must not be read from here on. What
  // the system keeps of a mapped file is then free for others.
  void release(size_t index);

 private:
  struct Mapping;  // an mmap that unmaps itself
  struct Unmap {
    void operator()(Mapping* mapping) const;
  };

  static Result<WeightStore> map_files(const LoadedModel& model,
                                       const std::vector<const halogen_tensor*>& tensors,
                                       const LoadProgress& progress);
  static Result<WeightStore> fill_arena(const LoadedModel& model,
                                        const std::vector<const halogen_tensor*>& tensors,
                                        const LoadProgress& progress);

  std::vector<std::unique_ptr<Mapping, Unmap>> mappings_;
  std::vector<char*> data_;      // by tensor
  std::vector<uint64_t> bytes_;  // likewise
  uint64_t total_bytes_ = 0;
};

}  // namespace halogen
