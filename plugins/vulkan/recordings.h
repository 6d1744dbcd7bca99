// Steps that were recorded, to be submitted again with other contents.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "plugins/vulkan/commands.h"
#include "plugins/vulkan/kv_pool.h"
#include "plugins/vulkan/step_shape.h"

namespace halogen::vulkan {

class Recordings {
 public:
  // Null where there is none yet.
  const Commands* find(const KvPool& kv, const StepShape& shape) const;
  // While none of them is in flight: room is made by giving up all there are.
  const Commands& keep(const KvPool& kv, const StepShape& shape, std::unique_ptr<Commands> made);
  // The pool's memory goes.
  void forget(const KvPool& kv);

 private:
  static constexpr size_t kMost = 128;
  std::map<std::pair<const KvPool*, StepShape>, std::unique_ptr<Commands>> known_;
};

}  // namespace halogen::vulkan
