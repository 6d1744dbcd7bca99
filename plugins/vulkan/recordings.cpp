#include "plugins/vulkan/recordings.h"

namespace halogen::vulkan {

const Commands* Recordings::find(const KvPool& kv, const StepShape& shape) const {
  const auto found = known_.find({&kv, shape});
  return found == known_.end() ? nullptr : found->second.get();
}

const Commands& Recordings::keep(const KvPool& kv, const StepShape& shape,
                                 std::unique_ptr<Commands> made) {
  if (known_.size() >= kMost) known_.clear();
  return *(known_[{&kv, shape}] = std::move(made));
}

void Recordings::forget(const KvPool& kv) {
  std::erase_if(known_, [&](const auto& entry) { return entry.first.first == &kv; });
}

}  // namespace halogen::vulkan
