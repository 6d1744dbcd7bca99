// Bytes between host and device, and within the device. Memory that the host sees is used directly;
// the rest goes through two staging buffers, one filled while the other is copied.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "plugins/vulkan/commands.h"
#include "plugins/vulkan/memory_pool.h"

namespace halogen::vulkan {

class Transfers {
 public:
  // With `always_stage`, also memory that the host sees is reached through the staging buffers.
  Transfers(Device& device, bool always_stage) : device_(device), always_stage_(always_stage) {}
  ~Transfers();
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;

  // [worker] All of them return when the bytes are there. `to` and `from` may be any size.
  void upload(const void* from, const Span& to);
  void download(const Span& from, void* to);
  struct Copy {
    Span from, to;  // of one size, apart
  };
  void copy(const std::vector<Copy>& copies);

 private:
  static constexpr uint64_t kStagingBytes = uint64_t{32} << 20;
  struct Staging {
    Staging(Device& device, MemoryUse use);
    MemoryPool pool;
    Span span;
    Fence fence;
    std::optional<Commands> commands;  // in flight
  };
  // Two of one kind, made when first needed.
  std::vector<std::unique_ptr<Staging>>& ring(MemoryUse use);
  void start(Staging& staging, const Span& from, const Span& to);
  void finish(Staging& staging);

  Device& device_;
  bool always_stage_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Staging>> uploads_, downloads_;
};

}  // namespace halogen::vulkan
